import type { EventEmitter } from 'node:events'
import { hashedValue, isKey } from '../keys/identity.js'
import type { KeyFunction } from '../keys/key.js'
import { chargeOf, type Decision, type PartDecision } from '../limiter/decision.js'
import { emit } from '../limiter/events.js'
import { isPromise } from '../util/maybe-promise.js'
import { RecentMap } from '../util/recent-map.js'
import { CLEARED_LIMITS, LIMIT_NAMES } from './limits.js'

/** The events that a guard emits, with their arguments. */
export interface LoginEvents<Req> {
  /** An entry for the security log. */
  security: [event: SecurityEvent, req: Req]
}

/**
 * An entry for a security log, in the words of OWASP's Logging Vocabulary cheat sheet. It holds no password,
 * and the account's name only with `accountInEvents: 'clear'`: else the hash that stands in keys.
 */
export interface SecurityEvent {
  /** ISO 8601, in UTC. */
  readonly datetime: string
  /** The guard's name. */
  readonly appid: string
  /**
   * `authn_login_fail_max:<account>,<limit>`, `authn_login_lock:<account>,maxretries`,
   * `authn_login_successafterfail:<account>,<failures>` or `excess_rate_limit_exceeded:<address>,<limit>`.
   */
  readonly event: string
  readonly level: 'INFO' | 'WARN'
  readonly description: string
  /** The address, IPv6 as its network; left out where there is none. */
  readonly source_ip?: string
}

/** Who attempts to log in, as a log may show it. */
export interface Identity {
  readonly account: string
  readonly address: string | undefined
}

/** Returns how an attempt is identified in the log. An address that is not there at once is left out. */
export function identityInLog<Req>(
  readAddress: KeyFunction<Req>,
  isInClear: boolean,
  secret: string | undefined,
): (req: Req, name: unknown) => Identity {
  function addressOf(req: Req): string | undefined {
    try {
      const address = readAddress(req)
      if (isPromise(address)) address.then(undefined, () => undefined)
      return typeof address === 'string' ? address : undefined
    } catch {
      return undefined // the connection has closed since the charge
    }
  }

  return (req, name) => {
    const shown = (key: string | number | bigint) =>
      isInClear ? escapeName(String(key)) : hashedValue(key, secret)
    return { account: isKey(name) ? shown(name) : 'unknown', address: addressOf(req) }
  }
}

/** Escapes a name, so that it ends neither its field in a log nor the line (ASVS 5.0, 16.4.1). */
function escapeName(name: string): string {
  return encodeURIComponent(name).replaceAll('%40', '@')
}

/** The log of one attempt. */
export interface AttemptLog {
  succeeded(): void
  /** Returns whether this failure was the last one in a row that is allowed. */
  failed(): boolean
  locked(): void
  /** Must be called once the attempt has its outcome. */
  end(): void
}

/** What an event says: its name with values, and a description. */
type Entry = (identity: Identity) => readonly [event: string, description: string]

/** How many limits whose exhaustion was logged are remembered, at least. */
const MIN_REMEMBERED = 10_000

/**
 * Creates the security log of a guard. It returns a function that begins the log of an attempt, which was
 * charged and is let through.
 *
 * The failure that takes the last unit of a limit is logged: of all processes that share a store, one makes
 * it. As a window returns units one by one, it comes again while guesses go on; each process logs it once
 * until a window has passed without.
 */
export function securityLog<Req>(
  events: EventEmitter<LoginEvents<Req>>,
  appid: string,
  identify: (req: Req, name: unknown) => Identity,
): (req: Req, name: unknown, decision: Decision) => AttemptLog {
  const loggedAtMs = new RecentMap<number>(MIN_REMEMBERED)
  /** How many attempts of each account are in progress in this process: charged as failures, and none yet. */
  const inProgress = new Map<string, number>()

  function wasLogged(key: string, { windowMs }: PartDecision): boolean {
    const nowMs = Date.now()
    const beforeMs = loggedAtMs.get(key)
    loggedAtMs.set(key, nowMs)
    // Without a window it is exhausted once, until it is forgotten.
    return beforeMs !== undefined && Number.isFinite(windowMs) && Math.abs(nowMs - beforeMs) < windowMs
  }

  /** Counts an attempt in or out, and returns how many others of the account are in progress. */
  function count(key: string, change: 1 | -1): number {
    const before = inProgress.get(key) ?? 0
    if (before + change > 0) inProgress.set(key, before + change)
    else inProgress.delete(key)
    return before
  }

  return function begin(req, name, decision) {
    const { allowed, parts, source } = decision
    const keys = (chargeOf(decision) ?? []).map(({ key }) => key)
    const counted = parts.findLastIndex((part) => ACCOUNT_LIMITS.includes(part.name))
    const [part, accountKey = ''] = [parts[counted], keys[counted]]
    const charged = allowed ? 1 + count(accountKey, 1) : 0 // this attempt and the others in progress
    const failures = part === undefined ? 0 : part.limit - part.remaining - charged

    function log(level: SecurityEvent['level'], entry: Entry): void {
      const identity = identify(req, name)
      const [event, description] = entry(identity)
      const datetime = new Date().toISOString()
      const source = identity.address === undefined ? {} : { source_ip: identity.address }
      emit(events, 'security', [{ datetime, appid, event, level, description, ...source }, req])
    }

    return {
      succeeded() {
        for (const [i, { name }] of parts.entries()) {
          if (CLEARED_LIMITS.includes(name)) loggedAtMs.delete(keys[i] as string)
        }
        if (failures > 0) log('INFO', successAfter(failures))
      },
      failed() {
        if (!allowed) return false // in report mode: logged by the failure that took the last unit
        for (const [i, part] of parts.entries()) {
          if (part.remaining > 0 || part.name === LIMIT_NAMES.consecutive) continue
          if (!wasLogged(keys[i] as string, part)) log('WARN', exhausted(part))
        }
        if (source !== 'store') return false // a share of the limit, in the memory of one process
        return parts.some(({ name, remaining }) => name === LIMIT_NAMES.consecutive && remaining === 0)
      },
      locked: () => log('WARN', locked),
      end() {
        if (allowed) count(accountKey, -1)
      },
    }
  }
}

/** The limits by which the failures of an account are counted. */
const ACCOUNT_LIMITS: readonly string[] = [LIMIT_NAMES.account, LIMIT_NAMES.consecutive]

function exhausted({ name, limit }: PartDecision): Entry {
  return ({ account, address = 'unknown' }) =>
    name === LIMIT_NAMES.address
      ? [
          `excess_rate_limit_exceeded:${address},${limit}`,
          `Address ${address} has exceeded max:${limit} failed logins`,
        ]
      : [
          `authn_login_fail_max:${account},${limit}`,
          `User ${account} reached the login fail limit of ${limit}`,
        ]
}

function successAfter(failures: number): Entry {
  return ({ account }) => [
    `authn_login_successafterfail:${account},${failures}`,
    `User ${account} logged in after ${failures} failed attempt${failures === 1 ? '' : 's'}`,
  ]
}

const locked: Entry = ({ account }) => [
  `authn_login_lock:${account},maxretries`,
  `User ${account} login locked because maxretries exceeded`,
]
