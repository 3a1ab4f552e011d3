import type { AdaptiveLimit } from './adaptive-limit.js'
import { Codel } from './codel.js'
import { Cohorts, CRITICAL, PRIORITIES } from './cohorts.js'
import type { Epoch } from './epochs.js'
import type { FairShares } from './fair-shares.js'
import { Fifo } from './fifo.js'
import type { Tenant } from './tenant.js'

/** What a guard knows about a request. */
export interface Entry {
  /** The index of its class in `PRIORITIES`. */
  readonly priority: number
  /** A hash of its client, 32 bits. */
  readonly client: number
  /** The name of its tenant. Absent if the guard has no tenants. */
  readonly tenantId?: string | undefined
  /**
   * Called once if the request had to wait: with true when it gets a place, with false when it is denied.
   */
  settle(isAdmitted: boolean): void
}

/** A request that has a place, or waits for one. */
export interface Ticket extends Entry {
  arrivedAtMs: number
  tenant: Tenant | undefined
  /** The index of its level. */
  rank: number
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
  /** Whether requests may wait for a place. Default true. */
  readonly canWait?: boolean
}

/** The waiting requests of one class whose tenants are all within their shares, or all beyond them. */
interface Level {
  readonly queue: Fifo<Ticket>
  readonly codel: Codel
  /** How many requests in the queue have not left. */
  waiting: number
}

/** After the last critical request, places are kept for others for this time. */
const KEEP_CRITICAL_MS = 60_000

/** The share of places that tenants beyond their shares leave free while others need theirs. */
const KEPT_FOR_SHARES = 0.2

/**
 * A request that is late when it is read counts as having waited for this time, longer than any may wait.
 */
const TOO_LONG_MS = 60_000

/**
 * Admits, queues or denies requests, by an adaptive limit, their classes and their tenants. It is pure: time
 * is an argument, in milliseconds of a monotonic clock. While requests wait, the caller must call `advance`
 * from a timer.
 */
export class GuardCore {
  readonly #options: GuardCoreOptions
  readonly #limit: AdaptiveLimit
  readonly #cohorts = new Cohorts()
  /** Two for each class: beyond the share of the tenant, then within it. The last level is served first. */
  readonly #levels: readonly Level[]
  #criticalAtMs = Number.NEGATIVE_INFINITY
  #waiting = 0
  #running = 0
  #isServing = false
  #lastMs = Number.NEGATIVE_INFINITY
  #steppedBackMs = 0
  #canWait: boolean

  constructor(options: GuardCoreOptions) {
    this.#options = options
    this.#limit = options.limit
    this.#canWait = options.canWait ?? true
    this.#levels = Array.from({ length: 2 * PRIORITIES.length }, () => ({
      queue: new Fifo<Ticket>(),
      codel: new Codel(options.targetWaitMs, options.burstWaitMs),
      waiting: 0,
    }))
  }

  /** How many requests have a place. */
  get running(): number {
    return this.#running
  }

  /** How many requests wait for a place. */
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

  /** Returns whether the verdict on a request may depend on its client. */
  get readsClients(): boolean {
    return this.#cohorts.isActive
  }

  /**
   * Decides about a request, which becomes a ticket. A late one waited for too long before it could be read, and is denied. If the
   * request has to wait, `settle` is called later.
   */
  offer(entry: Entry, nowMs: number, isLate = false): Verdict {
    const { tenants } = this.#options
    const timeMs = this.#time(nowMs)
    const tenant = entry.tenantId === undefined ? undefined : tenants?.enter(entry.tenantId, timeMs)
    const ticket = entry as Ticket
    ticket.arrivedAtMs = timeMs
    ticket.tenant = tenant
    ticket.rank = ticket.startedAtMs = ticket.epoch = 0
    ticket.state = 'waiting'
    return this.#decide(ticket, timeMs, isLate)
  }

  /**
   * Ends a request that has a place: it sent its first byte, failed, or left before that. Unless `isSample`
   * is false, its latency is compared with others of the same class of routes.
   */
  end(ticket: Ticket, nowMs: number, routeClass: string, isSample = true): void {
    if (ticket.state !== 'running') return
    ticket.state = 'over'
    const timeMs = this.#time(nowMs)
    const heldMs = timeMs - ticket.startedAtMs
    this.#limit.end(isSample ? routeClass : undefined, heldMs, ticket.epoch, this.#running)
    this.#running--
    if (ticket.tenant) this.#options.tenants?.returnPlace(ticket.tenant, timeMs)
    this.#advance(timeMs)
  }

  /** Removes a request from the queue, because its client has left. */
  leave(ticket: Ticket): void {
    if (ticket.state !== 'waiting') return
    ticket.state = 'over'
    const level = this.#levels[ticket.rank] as Level
    this.#countOut(level)
    this.#cohorts.recordUnplaced()
    if (level.waiting === 0) level.queue.clear()
  }

  /** Denies all waiting requests. From now on, no request waits. */
  close(nowMs: number): void {
    this.#canWait = false
    const timeMs = this.#time(nowMs)
    for (const level of this.#levels) {
      const { queue } = level
      for (let ticket = queue.first; ticket !== undefined; ticket = queue.first) {
        queue.shift()
        if (ticket.state !== 'waiting') continue
        this.#countOut(level)
        this.#deny(ticket, timeMs)
        ticket.settle(false)
      }
    }
  }

  /** Does what is due, and gives free places to waiting requests. */
  advance(nowMs: number): void {
    this.#advance(this.#time(nowMs))
  }

  /** Returns the time of a clock that never steps back. */
  #time(nowMs: number): number {
    if (nowMs < this.#lastMs) this.#steppedBackMs += this.#lastMs - nowMs
    this.#lastMs = nowMs
    return nowMs + this.#steppedBackMs
  }

  #advance(nowMs: number): void {
    this.#limit.advance(nowMs, this.#running)
    if (this.#limit.isProbing) this.#cohorts.pause(nowMs)
    else this.#cohorts.advance(nowMs, this.#limit.current)
    if (this.#waiting > 0) this.#serveAll(nowMs)
  }

  #decide(ticket: Ticket, nowMs: number, isLate: boolean): Verdict {
    this.#advance(nowMs)
    if (ticket.priority === CRITICAL) this.#criticalAtMs = nowMs
    const isWithinShare = this.#isWithinShare(ticket, nowMs)
    const isProtected = ticket.tenant !== undefined && isWithinShare
    const passes = this.#cohorts.passes(ticket.priority, ticket.client, nowMs) || isProtected
    if (!passes) return this.#deny(ticket, nowMs)
    const rank = 2 * ticket.priority + Number(isWithinShare)
    ticket.rank = rank
    const level = this.#levels[rank] as Level
    if (!isLate && this.#hasPlace(ticket, isWithinShare, nowMs) && !this.#isAnyAhead(rank)) {
      this.#admit(ticket, level, nowMs)
      return 'admitted'
    }
    if (isLate) return this.#denyUnplaced(ticket, level, TOO_LONG_MS, nowMs)
    if (!this.#canWait) {
      this.#cohorts.recordUnplaced()
      return this.#deny(ticket, nowMs)
    }
    if (level.waiting === 0) level.codel.begin()
    level.queue.push(ticket)
    this.#waiting++
    level.waiting++
    return 'waiting'
  }

  /**
   * A request that settles may end at once, which calls this again. Then the outer loop serves the next one.
   */
  #serveAll(nowMs: number): void {
    if (this.#isServing) return
    this.#isServing = true
    try {
      for (let i = this.#levels.length - 1; i >= 0; i--) this.#serve(this.#levels[i] as Level, nowMs)
    } finally {
      this.#isServing = false
    }
  }

  #serve(level: Level, nowMs: number): void {
    const { queue } = level
    for (let ticket = queue.first; ticket !== undefined; ticket = queue.first) {
      const isWaiting = ticket.state === 'waiting'
      const isLate = isWaiting && nowMs - ticket.arrivedAtMs > this.#maxWaitMs(ticket, level, nowMs)
      if (isWaiting && !isLate && !this.#hasPlace(ticket, ticket.rank % 2 === 1, nowMs)) return
      queue.shift()
      if (!isWaiting) continue
      this.#countOut(level)
      if (isLate) this.#denyUnplaced(ticket, level, nowMs - ticket.arrivedAtMs, nowMs)
      else this.#admit(ticket, level, nowMs)
      ticket.settle(!isLate)
    }
  }

  /** Counts a request that waits no longer. */
  #countOut(level: Level): void {
    this.#waiting--
    level.waiting--
  }

  /** Denies a request that passed, but has waited for too long for a place. */
  #denyUnplaced(ticket: Ticket, { codel }: Level, waitedMs: number, nowMs: number): 'denied' {
    codel.observe(waitedMs, nowMs)
    this.#cohorts.recordUnplaced()
    return this.#deny(ticket, nowMs)
  }

  #maxWaitMs({ tenant, rank }: Ticket, { codel }: Level, nowMs: number): number {
    const isProtected = tenant !== undefined && rank % 2 === 1
    return this.#cohorts.isDenying && !isProtected ? this.#options.targetWaitMs : codel.maxWaitMs(nowMs)
  }

  #admit(ticket: Ticket, { codel }: Level, nowMs: number): void {
    codel.observe(nowMs - ticket.arrivedAtMs, nowMs)
    this.#running++
    this.#cohorts.recordAdmission(this.#running)
    ticket.state = 'running'
    ticket.startedAtMs = nowMs
    ticket.epoch = this.#limit.begin(nowMs)
    const { tenant, tenantId = '' } = ticket
    if (tenant) this.#options.tenants?.takePlace(tenant, tenantId, nowMs)
  }

  #deny(ticket: Ticket, nowMs: number): 'denied' {
    ticket.state = 'over'
    this.#limit.recordDenial(nowMs)
    if (ticket.tenant && !this.#limit.isProbing)
      this.#options.tenants?.recordDenial(ticket.tenant, this.#limit.limit, nowMs)
    return 'denied'
  }

  #hasPlace(ticket: Ticket, isWithinShare: boolean, nowMs: number): boolean {
    const { current, limit } = this.#limit
    const { criticalShare } = this.#options
    let free = current
    if (ticket.priority === CRITICAL) free = Math.max(current, limit * criticalShare)
    else if (nowMs - this.#criticalAtMs < KEEP_CRITICAL_MS) free *= 1 - criticalShare
    if (!isWithinShare && this.#isOverCap(ticket, nowMs)) free *= 1 - KEPT_FOR_SHARES
    return this.#running < Math.max(1, free === current ? current : Math.floor(free))
  }

  #isAnyAhead(rank: number): boolean {
    if (this.#waiting === 0) return false
    for (let i = this.#levels.length - 1; i >= rank; i--)
      if ((this.#levels[i] as Level).waiting > 0) return true
    return false
  }

  #isWithinShare({ tenant }: Ticket, nowMs: number): boolean {
    return (
      tenant === undefined || this.#options.tenants?.isWithinShare(tenant, this.#limit.limit, nowMs) !== false
    )
  }

  #isOverCap({ tenant }: Ticket, nowMs: number): boolean {
    const { tenants } = this.#options
    if (tenant === undefined || tenants === undefined) return false
    return tenant.held >= tenants.capOf(tenant, this.#limit.limit, nowMs)
  }
}
