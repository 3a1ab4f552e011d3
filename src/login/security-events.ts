import type { EventEmitter } from 'node:events'
import { hashedValue, isKey } from '../keys/identity.js'
import type { KeyFunction } from '../keys/key.js'
import { chargeOf, type Decision } from '../limiter/decision.js'
import { emit } from '../limiter/events.js'
import { isPromise } from '../util/maybe-promise.js'
import { LIMIT_NAMES } from './limits.js'
import type { LoginSettings } from './options.js'

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

/** The description of each event, by its account or address and its value. */
const DESCRIPTIONS = {
  authn_login_fail_max: (account, limit) => `User ${account} reached the login fail limit of ${limit}`,
  authn_login_lock: (account) => `User ${account} login locked because maxretries exceeded`,
  authn_login_successafterfail: (account, failures) =>
    `User ${account} logged in after ${failures} failed attempt${failures === 1 ? '' : 's'}`,
  excess_rate_limit_exceeded: (address, limit) =>
    `Address ${address} has exceeded max:${limit} failed logins`,
} satisfies Record<string, (subject: string, value: number | string) => string>

/** The limits by which the failures of an account are counted. */
const ACCOUNT_LIMITS: readonly string[] = [LIMIT_NAMES.account, LIMIT_NAMES.consecutive]

/** The log of one attempt. */
export interface AttemptLog {
  succeeded(): void
  /** Returns whether this failure was the last one in a row that is allowed. */
  failed(): boolean
  locked(): void
  /** Must be called once the attempt has its outcome. */
  end(): void
}

/** Begins the log of an attempt that was charged and allowed. */
export type BeginLog<Req> = (req: Req, name: unknown, decision: Decision) => AttemptLog

/**
 * Creates the security log of a guard. A limit is logged by the failure that takes its last unit: of all
 * processes that share a store, one makes it.
 */
export function securityLog<Req>(
  events: EventEmitter<LoginEvents<Req>>,
  appid: string,
  { address: readAddress, isAccountInClear }: LoginSettings<Req, never>,
  secret: string | undefined,
): BeginLog<Req> {
  const countInProgress = progressCounter()

  function accountInLog(name: unknown): string {
    if (!isKey(name)) return 'unknown'
    if (!isAccountInClear) return hashedValue(name, secret)
    return encodeURIComponent(String(name)).replaceAll('%40', '@') // ends no field or line (ASVS 5.0, 16.4.1)
  }

  function log(req: Req, name: unknown, type: keyof typeof DESCRIPTIONS, value: number | string): void {
    const address = addressNow(readAddress, req)
    const subject = type === 'excess_rate_limit_exceeded' ? (address ?? 'unknown') : accountInLog(name)
    const event: SecurityEvent = {
      datetime: new Date().toISOString(),
      appid,
      event: `${type}:${subject},${value}`,
      level: type === 'authn_login_successafterfail' ? 'INFO' : 'WARN',
      description: DESCRIPTIONS[type](subject, value),
      ...(address !== undefined && { source_ip: address }),
    }
    emit(events, 'security', [event, req])
  }

  return function beginLog(req, name, decision) {
    const { allowed, parts, source } = decision
    const at = parts.findLastIndex((part) => ACCOUNT_LIMITS.includes(part.name))
    const key = chargeOf(decision)?.[at]?.key ?? ''
    const charged = allowed ? countInProgress(key, 1) : 0 // as failures, which they may not be
    const { limit = 0, remaining = 0 } = parts[at] ?? {}
    const failures = limit - remaining - charged

    return {
      succeeded() {
        if (failures > 0) log(req, name, 'authn_login_successafterfail', failures)
      },
      failed() {
        if (!allowed) return false // in report mode: logged by the failure that took the last unit
        const exhausted = parts.filter((part) => part.remaining === 0)
        for (const part of exhausted) {
          if (part.name === LIMIT_NAMES.address) log(req, name, 'excess_rate_limit_exceeded', part.limit)
          else if (part.name !== LIMIT_NAMES.consecutive) log(req, name, 'authn_login_fail_max', part.limit)
        }
        if (source !== 'store') return false // a share of the limit, in the memory of one process
        return exhausted.some((part) => part.name === LIMIT_NAMES.consecutive)
      },
      locked: () => log(req, name, 'authn_login_lock', 'maxretries'),
      end() {
        if (allowed) countInProgress(key, -1)
      },
    }
  }
}

/** Creates a counter by key, which counts in or out and returns the count; 0 takes no memory. */
function progressCounter(): (key: string, change: 1 | -1) => number {
  const counts = new Map<string, number>()
  return (key, change) => {
    const count = (counts.get(key) ?? 0) + change
    if (count > 0) counts.set(key, count)
    else counts.delete(key)
    return count
  }
}

/** Returns the address if it is there at once, and if the connection has not closed since the charge. */
function addressNow<Req>(read: KeyFunction<Req>, req: Req): string | undefined {
  try {
    const address = read(req)
    if (isPromise(address)) address.then(undefined, () => undefined)
    return typeof address === 'string' ? address : undefined
  } catch {
    return undefined
  }
}
