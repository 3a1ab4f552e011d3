import type { AdaptiveLimit, Epoch } from './adaptive-limit.js'
import { Codel } from './codel.js'
import { Cohorts, PRIORITIES } from './cohorts.js'
import type { FairShares, Tenant } from './fair-shares.js'
import { Fifo } from './fifo.js'

/** What a guard knows of a request. */
export interface Entry {
  /** The index of its class in `PRIORITIES`. */
  readonly priority: number
  /** A hash of its client, 32 bits. */
  readonly client: number
  /** The name of its tenant. Absent if the guard has no tenants. */
  readonly tenantId?: string | undefined
  /** Called once if it had to wait: with true when it has a place, with false when it is denied. */
  settle(isAdmitted: boolean): void
}

/** A request that has a place, or waits for one. */
export interface Ticket extends Entry {
  readonly arrivedAtMs: number
  tenant: Tenant | undefined
  state: 'waiting' | 'running' | 'over'
  startedAtMs: number
  epoch: Epoch
}

export type Verdict = 'admitted' | 'waiting' | 'denied'

export interface GuardCoreOptions {
  readonly limit: AdaptiveLimit
  /** The share of places that only critical requests may take. */
  readonly criticalShare: number
  readonly targetWaitMs: number
  readonly burstWaitMs: number
  readonly tenants?: FairShares | undefined
}

/** Requests that wait for a place, all of one class, and within or beyond the shares of their tenants. */
interface Level {
  readonly queue: Fifo<Ticket>
  readonly codel: Codel
}

/** Places are kept for critical requests for so long after the last one. */
const KEEP_CRITICAL_MS = 60_000

/** As many requests wait at most as places are there, times this. */
const WAITING_PER_PLACE = 10

const CRITICAL = PRIORITIES.indexOf('critical')

/**
 * Admits, queues or denies requests, by an adaptive limit, their classes and their tenants. It is pure: time
 * is an argument, in milliseconds of a monotonic clock. Who calls it has `advance` called by a timer while
 * requests wait.
 */
export class GuardCore {
  readonly #options: GuardCoreOptions
  readonly #limit: AdaptiveLimit
  readonly #cohorts = new Cohorts()
  /** One for each class, first beyond and then within the share of the tenant. The last ones are served first. */
  readonly #levels: readonly Level[]
  #criticalAtMs = Number.NEGATIVE_INFINITY
  #waiting = 0
  #running = 0

  constructor(options: GuardCoreOptions) {
    this.#options = options
    this.#limit = options.limit
    this.#levels = Array.from({ length: 2 * PRIORITIES.length }, () => ({
      queue: new Fifo<Ticket>(),
      codel: new Codel(options.targetWaitMs, options.burstWaitMs),
    }))
  }

  /** How many requests have a place. */
  get running(): number {
    return this.#running
  }

  /** How many requests wait for one. */
  get waiting(): number {
    return this.#waiting
  }

  get limit(): AdaptiveLimit {
    return this.#limit
  }

  /** The share of requests that pass, by their class and their client. */
  get passingShare(): number {
    return this.#cohorts.share
  }

  /**
   * Decides about a request. `arrivedAtMs` is when it reached this process, which may be before it could be
   * read. If it has to wait, `settle` is called.
   */
  offer(
    entry: Entry,
    nowMs: number,
    arrivedAtMs = nowMs,
  ): { readonly verdict: Verdict; readonly ticket: Ticket } {
    const { tenants } = this.#options
    const tenant = entry.tenantId === undefined ? undefined : tenants?.enter(entry.tenantId, nowMs)
    const ticket: Ticket = Object.assign(entry, {
      ...{ arrivedAtMs, tenant, startedAtMs: 0 },
      ...{ epoch: 0, state: 'waiting' as const },
    })
    return { verdict: this.#decide(ticket, nowMs), ticket }
  }

  /**
   * Ends a request that has a place: by its first byte, or because it failed or left without one. Its latency
   * is compared with those of the same class of routes, and does not count without `isSample`.
   */
  end(ticket: Ticket, nowMs: number, routeClass: string, isSample = true): void {
    if (ticket.state !== 'running') return
    ticket.state = 'over'
    const heldMs = nowMs - ticket.startedAtMs
    if (isSample) this.#limit.sample(routeClass, heldMs, ticket.epoch, this.#running)
    this.#running--
    if (ticket.tenant) this.#options.tenants?.gaveBack(ticket.tenant, heldMs)
    this.advance(nowMs)
  }

  /** Takes a request out of the queue whose client has left. */
  leave(ticket: Ticket): void {
    if (ticket.state !== 'waiting') return
    ticket.state = 'over'
    this.#waiting--
  }

  /** Does what is due, and gives free places to those that wait. */
  advance(nowMs: number): void {
    this.#limit.advance(nowMs)
    if (this.#limit.isProbing) this.#cohorts.pause(nowMs)
    else this.#cohorts.advance(nowMs, this.#limit.current)
    for (let i = this.#levels.length - 1; i >= 0 && this.#waiting > 0; i--)
      this.#serve(this.#levels[i] as Level, nowMs)
  }

  #decide(ticket: Ticket, nowMs: number): Verdict {
    this.advance(nowMs)
    if (ticket.priority === CRITICAL) this.#criticalAtMs = nowMs
    const isWithinShare = this.#isWithinShare(ticket, nowMs)
    const isProtected = ticket.tenant !== undefined && isWithinShare
    const passes = this.#cohorts.passes(ticket.priority, ticket.client, nowMs) || isProtected
    if (!passes) return this.#deny(ticket, nowMs)
    if (!isWithinShare && this.#isOverCap(ticket, nowMs)) return this.#overflow(ticket, nowMs)
    const rank = 2 * ticket.priority + Number(isWithinShare)
    const level = this.#levels[rank] as Level
    const waitedMs = nowMs - ticket.arrivedAtMs
    const isLate = waitedMs > 0 && waitedMs > level.codel.maxWaitMs(nowMs)
    if (!isLate && this.#hasPlace(ticket.priority, nowMs) && !this.#isAnyAhead(rank)) {
      this.#admit(ticket, level, nowMs)
      return 'admitted'
    }
    if (isLate || this.#waiting >= WAITING_PER_PLACE * this.#limit.limit) return this.#overflow(ticket, nowMs)
    if (level.queue.first === undefined) level.codel.begin(nowMs)
    level.queue.push(ticket)
    this.#waiting++
    return 'waiting'
  }

  #serve(level: Level, nowMs: number): void {
    const { queue, codel } = level
    for (let ticket = queue.first; ticket !== undefined; ticket = queue.first) {
      if (ticket.state === 'waiting') {
        const isLate = nowMs - ticket.arrivedAtMs > codel.maxWaitMs(nowMs)
        if (!isLate && !this.#hasPlace(ticket.priority, nowMs)) return
        this.#waiting--
        if (isLate) this.#overflow(ticket, nowMs)
        else this.#admit(ticket, level, nowMs)
        ticket.settle(!isLate)
      }
      queue.shift()
    }
  }

  #admit(ticket: Ticket, { codel }: Level, nowMs: number): void {
    codel.observe(nowMs - ticket.arrivedAtMs, nowMs)
    this.#running++
    this.#cohorts.admitted(this.#running)
    ticket.state = 'running'
    ticket.startedAtMs = nowMs
    ticket.epoch = this.#limit.epoch
    const { tenant, tenantId = '' } = ticket
    if (tenant) this.#options.tenants?.took(tenant, tenantId)
  }

  /** Denies a request that passed and found no place. */
  #overflow(ticket: Ticket, nowMs: number): 'denied' {
    this.#cohorts.overflowed(nowMs)
    return this.#deny(ticket, nowMs)
  }

  #deny(ticket: Ticket, nowMs: number): 'denied' {
    ticket.state = 'over'
    this.#limit.denied(nowMs)
    if (ticket.tenant && !this.#limit.isProbing)
      this.#options.tenants?.denied(ticket.tenant, this.#limit.current, nowMs)
    return 'denied'
  }

  #hasPlace(priority: number, nowMs: number): boolean {
    const isKept = priority !== CRITICAL && nowMs - this.#criticalAtMs < KEEP_CRITICAL_MS
    const free = isKept ? 1 - this.#options.criticalShare : 1
    return this.#running < Math.max(1, this.#limit.current * free)
  }

  #isAnyAhead(rank: number): boolean {
    if (this.#waiting === 0) return false
    for (let i = this.#levels.length - 1; i >= rank; i--)
      if (this.#levels[i]?.queue.first !== undefined) return true
    return false
  }

  #isWithinShare({ tenant }: Ticket, nowMs: number): boolean {
    return (
      tenant === undefined ||
      this.#options.tenants?.isWithinShare(tenant, this.#limit.current, nowMs) !== false
    )
  }

  #isOverCap({ tenant }: Ticket, nowMs: number): boolean {
    const { tenants } = this.#options
    if (tenant === undefined || tenants === undefined) return false
    return tenant.held >= tenants.capOf(tenant, this.#limit.current, nowMs)
  }
}
