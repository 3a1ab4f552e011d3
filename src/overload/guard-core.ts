import type { AdaptiveLimit } from './adaptive-limit.js'
import { Cohorts, CRITICAL } from './cohorts.js'
import type { FairShares } from './fair-shares.js'
import { type Entry, isRankWithinShare, rankOf, type Ticket, type Verdict } from './ticket.js'
import { WaitingRequests } from './waiting-requests.js'

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
  readonly #waiting: WaitingRequests
  #criticalAtMs = Number.NEGATIVE_INFINITY
  #running = 0
  #lastMs = Number.NEGATIVE_INFINITY
  #steppedBackMs = 0
  #canWait: boolean

  constructor(options: GuardCoreOptions) {
    this.#options = options
    this.#limit = options.limit
    this.#canWait = options.canWait ?? true
    this.#waiting = new WaitingRequests(options.targetWaitMs, options.burstWaitMs)
  }

  /** How many requests have a place. */
  get running(): number {
    return this.#running
  }

  /** How many requests wait for a place. */
  get waiting(): number {
    return this.#waiting.count
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
   * Decides about a request, which becomes a ticket. A late one has waited for too long before it could be
   * read, and is denied. If the request has to wait, `settle` is called later.
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
    this.#waiting.remove(ticket)
    this.#cohorts.recordUnplaced()
  }

  /** Denies all waiting requests. From now on, no request waits. */
  close(nowMs: number): void {
    this.#canWait = false
    this.advance(nowMs)
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
    if (this.#limit.isProbing) this.#cohorts.startWindow(nowMs)
    else this.#cohorts.advance(nowMs, this.#limit.current, this.#running)
    if (this.#waiting.count > 0) this.#waiting.serve((ticket) => this.#decideAgain(ticket, nowMs))
  }

  #decide(ticket: Ticket, nowMs: number, isLate: boolean): Verdict {
    this.#advance(nowMs)
    if (ticket.priority === CRITICAL) this.#criticalAtMs = nowMs
    const isWithinShare = this.#isWithinShare(ticket, nowMs)
    const isProtected = ticket.tenant !== undefined && isWithinShare
    const isWelcome = isWithinShare && this.#areMostPlacesFree
    const verdict = this.#cohorts.decide(ticket.priority, ticket.client, nowMs, isWelcome)
    if (verdict === 'denied' && !isProtected) return this.#deny(ticket, nowMs)
    ticket.rank = rankOf(ticket.priority, isProtected || (isWithinShare && verdict === 'passes'))
    if (isLate) return this.#denyUnplaced(ticket, TOO_LONG_MS, nowMs)
    if (this.#hasPlace(ticket, nowMs) && !this.#waiting.isAnyAhead(ticket.rank))
      return this.#admit(ticket, nowMs)
    if (!this.#canWait) {
      this.#cohorts.recordUnplaced()
      return this.#deny(ticket, nowMs)
    }
    this.#waiting.add(ticket)
    return 'waiting'
  }

  #decideAgain(ticket: Ticket, nowMs: number): Verdict {
    if (!this.#canWait) return this.#deny(ticket, nowMs)
    const waitedMs = nowMs - ticket.arrivedAtMs
    if (waitedMs > this.#maxWaitMs(ticket, nowMs)) return this.#denyUnplaced(ticket, waitedMs, nowMs)
    return this.#hasPlace(ticket, nowMs) ? this.#admit(ticket, nowMs) : 'waiting'
  }

  /** Denies a request that passed, but has waited for too long for a place. */
  #denyUnplaced(ticket: Ticket, waitedMs: number, nowMs: number): 'denied' {
    this.#waiting.recordWait(ticket, waitedMs, nowMs)
    this.#cohorts.recordUnplaced()
    return this.#deny(ticket, nowMs)
  }

  #maxWaitMs({ priority, tenant, rank }: Ticket, nowMs: number): number {
    const isWithinShare = isRankWithinShare(rank)
    const isProtected = tenant !== undefined && isWithinShare
    if (this.#cohorts.isDenying(priority, !isWithinShare) && !isProtected) return this.#options.targetWaitMs
    return this.#waiting.maxWaitMs(rank, nowMs)
  }

  #admit(ticket: Ticket, nowMs: number): 'admitted' {
    this.#waiting.recordWait(ticket, nowMs - ticket.arrivedAtMs, nowMs)
    this.#running++
    this.#cohorts.recordAdmission(this.#running)
    ticket.state = 'running'
    ticket.startedAtMs = nowMs
    ticket.epoch = this.#limit.begin(nowMs)
    const { tenant, tenantId = '' } = ticket
    if (tenant) this.#options.tenants?.takePlace(tenant, tenantId, nowMs)
    return 'admitted'
  }

  #deny(ticket: Ticket, nowMs: number): 'denied' {
    ticket.state = 'over'
    this.#limit.recordDenial(nowMs)
    if (ticket.tenant && !this.#limit.isProbing)
      this.#options.tenants?.recordDenial(ticket.tenant, this.#limit.limit, nowMs)
    return 'denied'
  }

  #hasPlace(ticket: Ticket, nowMs: number): boolean {
    const { current, limit } = this.#limit
    const { criticalShare } = this.#options
    let free = current
    if (ticket.priority === CRITICAL) free = Math.max(current, limit * criticalShare)
    else if (nowMs - this.#criticalAtMs < KEEP_CRITICAL_MS) free *= 1 - criticalShare
    if (!isRankWithinShare(ticket.rank) && this.#isOverCap(ticket, nowMs)) free *= 1 - KEPT_FOR_SHARES
    return this.#running < Math.max(1, free === current ? current : Math.floor(free))
  }

  #isWithinShare({ tenant }: Ticket, nowMs: number): boolean {
    return (
      tenant === undefined || this.#options.tenants?.isWithinShare(tenant, this.#limit.limit, nowMs) !== false
    )
  }

  get #areMostPlacesFree(): boolean {
    return this.#running < this.#limit.current / 2 && this.#waiting.count === 0
  }

  #isOverCap({ tenant }: Ticket, nowMs: number): boolean {
    const { tenants } = this.#options
    if (tenant === undefined || tenants === undefined) return false
    return tenant.held >= tenants.capOf(tenant, this.#limit.limit, nowMs)
  }
}
