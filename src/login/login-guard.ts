import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readMiddlewareOptions } from '../http/options.js'
import { middlewareFrom, type RateLimitMiddleware } from '../http/rate-limit.js'
import { hashedValue, isKey } from '../keys/identity.js'
import { claim } from '../limiter/claimed-store.js'
import { chargeOf, decisionOn } from '../limiter/decision.js'
import type { Limiter } from '../limiter/limiter.js'
import type { LimiterOptions, LimitOptions } from '../limiter/options.js'
import type { Limit } from '../limiter/parse-limits.js'
import { readLimiterOptions } from '../limiter/parse-options.js'
import { readForgotten } from '../limiter/resolve-charge.js'
import { memoryStore } from '../stores/memory/memory-store.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { warnOnce } from '../util/warn-once.js'
import type { AccountReader } from './account.js'
import { watchAttempt } from './attempt.js'
import { attempterReader } from './attempter.js'
import { describeGuard } from './describe.js'
import { deviceKey, loginLimits, releasedLimits } from './limits.js'
import { type Lockouts, lockouts } from './lockouts.js'
import type { ReportOutcome } from './on-outcome.js'
import { type LoginGuardOptions, readLoginOptions, sharedOptions } from './options.js'
import { loginAnswer } from './response.js'
import { type LoginEvents, securityEvents } from './security-events.js'

const OWNER = 'loginGuard'
const DEFAULT_NAME = 'login'

/** Middleware that guards a login. One guard may stand before several routes, which share its limits then. */
export interface LoginGuard<Req extends IncomingMessage, Res extends ServerResponse>
  extends RateLimitMiddleware<Req, Res> {
  /** What a security log is to know. What the limiter tells is at `limiter.events`. */
  readonly events: EventEmitter<LoginEvents<Req>>
  /**
   * What events and keys call an account: the hash of its name. Takes what the key functions read, such as
   * `{ body: { username: 'ada' } }`, and reads it anew on each call; of an attempt in progress it is the
   * account that was charged. `undefined` where there is no name.
   */
  accountId(subject: Req | Record<string, unknown>): MaybePromise<string | undefined>
  /**
   * Reports that an attempt is a success, whatever its status is and `succeeded` returns. To be called
   * before the headers of the response are sent, else it throws an `Error`; the last report holds. Has no
   * effect on a request that this guard has not let through as an attempt, or whose client has hung up; on
   * one that it has never seen, such as a wrapper, it emits the process warning `HEADGATE_UNKNOWN_ATTEMPT`.
   */
  reportSuccess(req: Req): void
  /** As `reportSuccess`, for a failure. It counts as one in a row, too, even where the status is a 5xx. */
  reportFailure(req: Req): void
  /** The limits in force as a short text, for security documentation. */
  describe(): string
}

/**
 * Makes middleware that stops the guessing of passwords and lets real users in: limits of failed attempts per address, per account across
 * all addresses, per account and address, and in a row, decided together in one round trip.
 *
 * - An attempt is charged before its handler runs, so that guesses fired at once do not get past. A success gives that back, and clears
 *   the failures of the account; never those of the address, so that logging in with an account of one's own buys no guesses.
 * - A status below 300 is a success. A redirect is a failure, unless `failureRedirect`, `succeeded` or
 *   `reportSuccess` makes it a success.
 * - Requests that read (GET, HEAD, OPTIONS, TRACE: RFC 9110 §9.2.1) and hold no such field are no attempts and pass. A body parser must run
 *   before. An attempt whose field is missing or empty, or holds what can be no name (an array, an object,
 * invisible characters), is answered 400. Names are compared as `foldName` folds them; so must the
 * application.
 * - Refused attempts are all answered alike. No figure of any limit is told to clients.
 * - While the store is out of reach this process's memory stands in (`onStoreError: 'local'`), unless told otherwise.
 *
 * Numbers and their sources: `defaultPolicies` and `consecutive`; OWASP ASVS 5.0 V6.3, OWASP Authentication, Credential Stuffing Prevention and
 * Bot Management cheat sheets, NIST SP 800-63B-4 §3.2.2.
 *
 * Throws a `TypeError` for wrong options, with the mend in the message.
 */
export function loginGuard<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
>(options: LoginGuardOptions<Req, Res>): LoginGuard<Req, Res> {
  const login = readLoginOptions(options)
  const { account, address, devices, policies, mostInARow, retryAfter } = login
  const { name = DEFAULT_NAME, prefix = 'hg', onStoreError = 'local', secret, onLimited, skip } = options
  const store = options.store ?? (options.name === undefined ? memoryStore() : undefined)
  const seen = new WeakSet<IncomingMessage>()
  const device = devices && deviceKey(account.key, devices.deviceOf)
  const keys = { address, account: account.key, device }
  const settings = readMiddlewareOptions<Req, Res>(OWNER, {
    ...sharedOptions(options),
    ...(store && { store }),
    name,
    onStoreError,
    denyCache: false, // its limits count denials
    headers: 'none',
    limits: loginLimits(policies, mostInARow, keys),
    skip: skipAllBut(account, seen, skip),
  })
  if (options.name === undefined && store) claim(OWNER, store, `${prefix}:${name}`)

  const { statusCode, message, enforce } = settings
  const limitsOf = (found: unknown) =>
    readReleased(releasedLimits(policies, mostInARow, { ...keys, account: () => found }), {
      name,
      prefix,
      ...(secret && { secret }),
    })
  const coarseMs = Number.isFinite(policies.account.windowMs) ? policies.account.windowMs : LONGEST_COARSE_MS
  const events = new EventEmitter<LoginEvents<Req>>()
  const log = securityEvents(events, name)
  const who = attempterReader(login, secret)
  const { store: shared, timeoutMs } = settings.limiter
  const locks = lockouts<Req>(shared, timeoutMs, async (req) => {
    const found = await account.key(req)
    log.locked(req, who(req, found))
    return enforce ? login.onLockout?.(String(found), req) : undefined
  })
  const reports = new WeakMap<IncomingMessage, ReportOutcome>()
  function report(req: Req, outcome: 'success' | 'failure'): void {
    const reportOutcome = reports.get(req)
    if (reportOutcome !== undefined) reportOutcome(outcome)
    else if (!seen.has(req)) warnUnseen()
  }

  const middleware = middlewareFrom<Req, Res>(OWNER, {
    ...settings,
    isMalformed: account.isMalformed,
    onLimited: loginAnswer({ retryAfter, coarseMs, statusCode, message, onLimited }),
    onAllowed: watchAttempt(login, { log, locks, who, reports }),
  })
  middleware.limiter.events.on('limited', (decision, req) => locks.refused(req, decision))

  return Object.assign(middleware, {
    limiter: unlocking(middleware.limiter, locks, account, limitsOf),
    events,
    accountId: (subject: Req | Record<string, unknown>) =>
      thenMaybe(account.key(subject as Req), (found) =>
        isKey(found) ? hashedValue(found, secret) : undefined,
      ),
    reportSuccess: (req: Req) => report(req, 'success'),
    reportFailure: (req: Req) => report(req, 'failure'),
    describe: () => describeGuard(login, { name, statusCode, coarseMs, onStoreError, enforce }),
  })
}

/** Returns a `skip` for all requests but attempts, each of which has its account read once from there on. */
function skipAllBut<Req extends IncomingMessage, Res>(
  account: AccountReader<Req>,
  seen: WeakSet<IncomingMessage>,
  skip: ((req: Req, res: Res) => MaybePromise<boolean>) | undefined,
): (req: Req, res: Res) => MaybePromise<boolean> {
  return (req, res) => {
    seen.add(req)
    const skips = (isReading(req) && !account.hasField(req)) || (skip?.(req, res) ?? false)
    return thenMaybe(skips, (isSkipped) => {
      if (!isSkipped) account.begin(req)
      return isSkipped
    })
  }
}

/** A failure that is reported in vain may count as a success. */
function warnUnseen(): void {
  warnOnce(
    'HEADGATE_UNKNOWN_ATTEMPT',
    'headgate: guard.reportSuccess or guard.reportFailure was called with a request that this guard has not seen, and ' +
      'has no effect. Pass the request object that the guard was called with, not a copy or a wrapper of it.',
  )
}

/** Reads limits that are forgotten together, though two of them have one name. */
function readReleased<Req>(
  { strangers, known }: ReturnType<typeof releasedLimits<Req>>,
  options: Pick<LimiterOptions<Req>, 'name' | 'prefix' | 'secret'>,
): readonly Limit[] {
  const read = (limits: LimitOptions<Req>[]) =>
    limits.length === 0 ? [] : readLimiterOptions<Req>(OWNER, { ...options, limits }).limits
  return [...read(strangers), ...read(known)]
}

/** Returns a limiter that also forgets the marks of locks that were reported. */
function unlocking<Req>(
  limiter: Limiter<Req>,
  locks: Lockouts<Req>,
  account: AccountReader<Req>,
  limitsOf: (account: unknown) => readonly Limit[],
): Limiter<Req> {
  return {
    ...limiter,
    async forget(subject, options) {
      const names = options?.limits
      const charged = chargeOf(subject)?.filter(({ name }) => names?.includes(name) !== false)
      const parts =
        charged ?? (await readForgotten(limitsOf(await account.key(subject as Req)), subject, names))
      try {
        await locks.forget(parts)
      } finally {
        await limiter.forget(decisionOn(parts))
      }
    },
  }
}

/** What refused attempts are told where the account's limit has no window. */
const LONGEST_COARSE_MS = 3_600_000

function isReading({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' || method === 'TRACE'
}
