import type { EventEmitter } from 'node:events'
import { chargeOf, type Decision, type PartDecision } from '../limiter/decision.js'
import { emit } from '../limiter/events.js'
import { RecentMap } from '../util/recent-map.js'
import type { Attempter } from './attempter.js'
import { CLEARED, LIMIT_NAMES } from './limits.js'

/** What a guard tells those who listen, and with what. */
export interface LoginEvents<Req> {
  /** Something for the security log. */
  security: [event: SecurityEvent, req: Req]
}

/**
 * An entry for a security log, in the words of OWASP's Logging Vocabulary cheat sheet. It holds no password, and the account's name only
 * where the guard was told so: else the same hash as stands in keys.
 */
export interface SecurityEvent {
  /** ISO 8601, in UTC. */
  readonly datetime: string
  /** The guard's name. */
  readonly appid: string
  /**
   * `authn_login_fail_max:<account>,<limit>`, `authn_login_lock:<account>,maxretries`, `authn_login_successafterfail:<account>,<failures>` or
   * `excess_rate_limit_exceeded:<address>,<limit>`.
   */
  readonly event: string
  readonly level: 'INFO' | 'WARN'
  readonly description: string
  /** The address, IPv6 as its network; left out where there is none. */
  readonly source_ip?: string
}

/** Keys of limits that were told lately are remembered, at least so many. */
const MIN_REMEMBERED = 10_000

/** Tells of attempts what a security log is to know, once per change. */
export interface SecurityEvents<Req> {
  /** An attempt is under way, and is counted as such. Gives how many of its account had failed before it. */
  begun(decision: Decision): number
  /** It is not any more. */
  ended(decision: Decision): void
  /** Gives whether this failure was the last one in a row that there may be. */
  failed(req: Req, decision: Decision, who: () => Attempter): boolean
  succeeded(req: Req, decision: Decision, failuresBefore: number, who: () => Attempter): void
  locked(req: Req, who: Attempter): void
}

/**
 * The failure that takes the last unit of a limit is the change: of all processes that share a store, one makes it. As a window gives
 * units back one by one, it comes again and again while guesses go on; each process tells it once until a window has passed
 * without.
 */
export function securityEvents<Req>(
  events: EventEmitter<LoginEvents<Req>>,
  appid: string,
): SecurityEvents<Req> {
  const toldAtMs = new RecentMap<number>(MIN_REMEMBERED)
  /** Attempts of each account that are under way in this process: charged like failures, and none yet. */
  const underWay = new Map<string, number>()

  function tell(
    req: Req,
    level: SecurityEvent['level'],
    name: string,
    values: readonly (string | number)[],
    description: string,
    { address }: Attempter,
  ): void {
    const event = `${name}:${values.join(',')}`
    const datetime = new Date().toISOString()
    const source = address === undefined ? {} : { source_ip: address }
    emit(events, 'security', [{ datetime, appid, event, level, description, ...source }, req])
  }

  function isToldAlready(key: string, { windowMs }: PartDecision): boolean {
    if (windowMs === Number.POSITIVE_INFINITY) return false // it comes once, until it is forgotten
    const nowMs = Date.now()
    const beforeMs = toldAtMs.get(key)
    toldAtMs.set(key, nowMs)
    return beforeMs !== undefined && Math.abs(nowMs - beforeMs) < windowMs
  }

  function tellExhausted(req: Req, { name, limit }: PartDecision, who: Attempter): void {
    const { account, address = 'unknown' } = who
    if (name === LIMIT_NAMES.address) {
      const what = `Address ${address} has exceeded max:${limit} failed logins`
      tell(req, 'WARN', 'excess_rate_limit_exceeded', [address, limit], what, who)
    } else {
      const what = `User ${account} reached the login fail limit of ${limit}`
      tell(req, 'WARN', 'authn_login_fail_max', [account, limit], what, who)
    }
  }

  return {
    begun(decision) {
      const { key = '', part } = accountCount(decision)
      const others = underWay.get(key) ?? 0
      if (decision.allowed) underWay.set(key, others + 1)
      if (part === undefined) return 0
      const own = decision.allowed ? part.cost : 0
      return part.limit - part.remaining - own - others
    },
    ended(decision) {
      if (!decision.allowed) return
      const { key = '' } = accountCount(decision)
      const left = (underWay.get(key) ?? 1) - 1
      if (left > 0) underWay.set(key, left)
      else underWay.delete(key)
    },
    failed(req, decision, who) {
      if (!decision.allowed) return false // told when the last unit was taken
      const keys = chargeOf(decision) ?? []
      decision.parts.forEach((part, i) => {
        if (part.remaining > 0 || part.name === LIMIT_NAMES.consecutive) return
        if (!isToldAlready(keys[i]?.key ?? '', part)) tellExhausted(req, part, who())
      })
      if (decision.source !== 'store') return false // a share of the limit, in the memory of one process
      return decision.parts.some(({ name, remaining }) => name === LIMIT_NAMES.consecutive && remaining === 0)
    },
    succeeded(req, decision, failuresBefore, who) {
      for (const { key, name } of chargeOf(decision) ?? []) {
        if (CLEARED.includes(name as never)) toldAtMs.delete(key)
      }
      if (failuresBefore <= 0) return
      const { account } = who()
      const what = `User ${account} logged in after ${failuresBefore} failed attempt${failuresBefore === 1 ? '' : 's'}`
      tell(req, 'INFO', 'authn_login_successafterfail', [account, failuresBefore], what, who())
    },
    locked(req, who) {
      const what = `User ${who.account} login locked because maxretries exceeded`
      tell(req, 'WARN', 'authn_login_lock', [who.account, 'maxretries'], what, who)
    },
  }
}

/** The part that counts the account's failures, and its key. */
function accountCount(decision: Decision): { key?: string | undefined; part?: PartDecision | undefined } {
  for (const wanted of [LIMIT_NAMES.consecutive, LIMIT_NAMES.account]) {
    const at = decision.parts.findIndex(({ name }) => name === wanted)
    if (at >= 0) return { key: chargeOf(decision)?.[at]?.key, part: decision.parts[at] }
  }
  return {}
}
