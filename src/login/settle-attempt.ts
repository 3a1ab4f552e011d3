import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OnAllowed } from '../http/refund-uncounted.js'
import type { Decision, PartDecision } from '../limiter/decision.js'
import { emitFailure } from '../limiter/events.js'
import type { Limiter } from '../limiter/limiter.js'
import { messageOf } from '../stores/store-error.js'
import { warnOnce } from '../util/warn-once.js'
import type { Attempt, Attempts } from './attempt.js'
import { CLEARED_LIMITS } from './limits.js'
import type { LoginGuardOptions, LoginSettings } from './options.js'
import { type Outcome, onOutcome, outcomeOf } from './outcome.js'
import type { EventType, LogEvent } from './security-events.js'

/** What is logged for a failure that takes the last unit of a limit. */
const EXHAUSTION_EVENTS: Readonly<Record<string, EventType>> = {
  address: 'excess_rate_limit_exceeded',
  'account-and-address': 'authn_login_fail_max',
  account: 'authn_login_fail_max',
}

/**
 * Creates what follows an allowed attempt to its outcome. A success clears the failures of the account,
 * refunds the address, and makes the browser a known device. A failure stays charged; so does an error of
 * the server (5xx), except in the count of failures in a row: it shows nothing about a password, and must
 * not lead to a lock that only support can end.
 */
export function settleAttempts<Req extends IncomingMessage, Res extends ServerResponse>(
  { succeeded }: LoginSettings<Req, Res>,
  attempts: Attempts<Req>,
  log: LogEvent<Req>,
  onLockout: LoginGuardOptions<Req, Res>['onLockout'],
): OnAllowed<Req, Res> {
  const countRunning = counter()

  return function followAttempt(limiter, req, res, decision) {
    const attempt = attempts.get(req) as Attempt // begun before the charge
    const { name } = attempt
    const failures = failuresOf(decision) - countRunning(name, 1) // charged, too, and no failures yet
    const emitError = (error: unknown) => emitFailure(limiter.events, 'refundFailed', error, decision)

    function readOutcome(): Outcome {
      try {
        return outcomeOf(req, res, succeeded)
      } catch (error) {
        emitError(error)
        return 'failure'
      }
    }

    async function settle(outcome: Outcome): Promise<void> {
      if (outcome === 'success') {
        if (!res.headersSent) attempt.remember?.(res)
        if (failures > 0) log(req, name, 'authn_login_successafterfail', failures)
        return clear(limiter, decision)
      }
      const exhausted = exhaustedLimits(decision)
      for (const { name: limitName, limit } of exhausted) {
        const type = EXHAUSTION_EVENTS[limitName]
        if (type !== undefined) log(req, name, type, limit)
      }
      if (outcome === 'error') return limiter.refund(decision, { limits: ['consecutive'] })
      const isLastInRow = exhausted.some((part) => part.name === 'consecutive')
      if (!isLastInRow || decision.source !== 'store') return // a process alone has a share of the limit
      log(req, name, 'authn_login_lock', 'maxretries')
      await callOnLockout(() => onLockout?.(String(name), req))
    }

    attempt.report = onOutcome(res, readOutcome, (outcome) => {
      settle(outcome)
        .catch(emitError)
        .finally(() => countRunning(name, -1))
    })
  }
}

/**
 * Returns the limits whose last unit an attempt took: of all processes that share a store, one attempt does.
 * None in report mode, where the limit denied it.
 */
function exhaustedLimits({ allowed, parts }: Decision): readonly PartDecision[] {
  return allowed ? parts.filter(({ remaining }) => remaining === 0) : []
}

/** Returns how many attempts at the account are charged, by the limit that counts longest. */
function failuresOf({ parts }: Decision): number {
  const part = parts.findLast(({ name }) => name === 'consecutive' || name === 'account')
  return part === undefined ? 0 : part.limit - part.remaining
}

/** Creates a counter by name, which counts up or down and returns the count; 0 takes no memory. */
function counter(): (name: unknown, change: 1 | -1) => number {
  const counts = new Map<unknown, number>()
  return (name, change) => {
    const count = (counts.get(name) ?? 0) + change
    if (count > 0) counts.set(name, count)
    else counts.delete(name)
    return count
  }
}

/**
 * Forgets the failures of the account at once, so that those that come after the response are counted. Only
 * the address is refunded: a slow refund of a limit that is forgotten would take back a later failure.
 */
async function clear<Req>(limiter: Limiter<Req>, decision: Decision): Promise<void> {
  const forget = async () => limiter.forget(decision, { limits: CLEARED_LIMITS })
  const refund = async () => limiter.refund(decision, { limits: ['address'] })
  await Promise.all([forget(), refund()])
}

async function callOnLockout(onLockout: () => unknown): Promise<void> {
  try {
    await onLockout()
  } catch (error) {
    const message = `headgate: onLockout threw (${messageOf(error)}). The account is locked all the same.`
    warnOnce('HEADGATE_LOCKOUT_FAILED', message)
  }
}
