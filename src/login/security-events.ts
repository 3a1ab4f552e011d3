import type { KeyFunction } from '../keys/key-types.js'
import { isKey, valueHash } from '../keys/value-identity.js'
import type { Decision } from '../limiter/decision.js'
import { emit } from '../limiter/events.js'
import type { Emitter } from '../util/emitter.js'
import { isPromise } from '../util/maybe-promise.js'
import { escapeUnprintable } from '../util/printable.js'
import type { LoginSettings } from './options.js'

/** The events that a guard emits, with their arguments. */
export interface LoginEvents<Req> {
  /** An entry for the security log was made. */
  security: [event: SecurityEvent, req: Req]
}

/**
 * An entry for a security log, in the words of OWASP's Logging Vocabulary cheat sheet. It holds no password.
 * It names the account by its hash, `guard.accountId(req)`. For the name itself, read the request, which is
 * the second argument of listeners.
 */
export interface SecurityEvent {
  /** The time as ISO 8601, in UTC. */
  readonly datetime: string
  /** The name of the guard. */
  readonly appid: string
  /**
   * What happened: `authn_login_fail_max:<account>,<limit>`, `authn_login_lock:<account>,maxretries`,
   * `authn_login_successafterfail:<account>,<failures>` or `excess_rate_limit_exceeded:<address>,<limit>`.
   */
  readonly event: string
  readonly level: 'INFO' | 'WARN'
  readonly description: string
  /** The IP address, or the network of an IPv6 address. Absent if there is none. */
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

export type LogEvent<Req> = (
  req: Req,
  name: unknown,
  type: keyof typeof DESCRIPTIONS,
  value: number | string,
) => void

export function securityLog<Req extends object>(
  events: Emitter<LoginEvents<Req>>,
  { name: appid, secret, address: readAddress }: LoginSettings<Req, never>,
): LogEvent<Req> {
  const hashOf = valueHash(secret)

  return (req, name, type, value) => {
    const address = addressNow(readAddress, req)
    const account = isKey(name) ? hashOf(name) : undefined
    const subject = (type === 'excess_rate_limit_exceeded' ? address : account) ?? 'unknown'
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
}

/**
 * Logs each limit whose last unit a failure took. Among all processes that share a store, one failure takes
 * it. Returns whether the failure was the last one that `consecutive` allows.
 */
export function logExhausted<Req>(
  log: LogEvent<Req>,
  req: Req,
  name: unknown,
  { allowed, parts, source }: Decision,
): boolean {
  if (!allowed) return false // a denial, in report mode
  const exhausted = parts.filter(({ remaining }) => remaining === 0)
  for (const { name: limitName, limit } of exhausted) {
    if (limitName === 'address') log(req, name, 'excess_rate_limit_exceeded', limit)
    else if (limitName !== 'consecutive') log(req, name, 'authn_login_fail_max', limit)
  }
  if (source !== 'store') return false // the local fallback counts only a share of the limit
  return exhausted.some(({ name: limitName }) => limitName === 'consecutive')
}

/** Returns the address if it is there at once, and if the connection has not closed since the charge. */
function addressNow<Req>(read: KeyFunction<Req>, req: Req): string | undefined {
  try {
    const address = read(req)
    if (isPromise(address)) address.then(undefined, () => undefined)
    return typeof address === 'string' ? escapeUnprintable(address) : undefined
  } catch {
    return undefined
  }
}
