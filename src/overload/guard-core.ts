import type { AdaptiveLimit } from './adaptive-limit.js'
import { Cohorts, CRITICAL } from './cohorts.js'
import { GuardPlaces, type GuardPlacesOptions } from './guard-places.js'
import { type Entry, isRankWithinShare, rankOf, type Ticket, type Verdict } from './ticket.js'
import { WaitingRequests } from './waiting-requests.js'

export interface GuardCoreOptions extends GuardPlacesOptions {
  readonly targetWaitMs: number
  readonly burstWaitMs: number
  /** Whether requests may wait for a place. Default true. */
  readonly canWait?: boolean
}

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
  readonly #limit: AdaptiveLimit
  readonly #places: GuardPlaces
  readonly #cohorts = new Cohorts()
  readonly #waiting: WaitingRequests
  readonly #targetWaitMs: number
  #lastMs = Number.NEGATIVE_INFINITY
  #steppedBackMs = 0
  #canWait: boolean

  constructor(options: GuardCoreOptions) {
    const { limit, targetWaitMs, burstWaitMs, canWait = true } = options
    this.#limit = limit
    this.#places = new GuardPlaces(options)
    this.#waiting = new WaitingRequests(targetWaitMs, burstWaitMs)
    this.#targetWaitMs = targetWaitMs
    this.#canWait = canWait
  }

  /** How many requests have a place. */
  get running(): number {
    return this.#places.taken
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
    const timeMs = this.#time(nowMs)
    const tenant = this.#places.enter(entry.tenantId, timeMs)
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
    this.#limit.end(isSample ? routeClass : undefined, heldMs, ticket.epoch, this.#places.taken)
    this.#places.giveBack(ticket, timeMs)
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
    this.#limit.advance(nowMs, this.#places.taken)
    if (this.#limit.isProbing) this.#cohorts.startWindow(nowMs)
    else this.#cohorts.advance(nowMs, this.#limit.current, this.#places.taken)
    if (this.#waiting.count > 0) this.#waiting.serve((ticket) => this.#decideAgain(ticket, nowMs))
  }

  #decide(ticket: Ticket, nowMs: number, isLate: boolean): Verdict {
    this.#advance(nowMs)
    if (ticket.priority === CRITICAL) this.#places.recordCritical(nowMs)
    const isWithinShare = this.#places.isWithinShare(ticket, nowMs)
    const isProtected = ticket.tenant !== undefined && isWithinShare
    const isWelcome = isWithinShare && this.#places.areMostFree && this.#waiting.count === 0
    const verdict = this.#cohorts.decide(ticket.priority, ticket.client, nowMs, isWelcome)
    if (verdict === 'denied' && !isProtected) return this.#deny(ticket, nowMs)
    ticket.rank = rankOf(ticket.priority, isProtected || (isWithinShare && verdict === 'passes'))
    if (isLate) return this.#denyUnplaced(ticket, TOO_LONG_MS, nowMs)
    if (this.#places.isAnyFor(ticket, nowMs) && !this.#waiting.isAnyAhead(ticket.rank))
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
    return this.#places.isAnyFor(ticket, nowMs) ? this.#admit(ticket, nowMs) : 'waiting'
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
    if (this.#cohorts.isDenying(priority, !isWithinShare) && !isProtected) return this.#targetWaitMs
    return this.#waiting.maxWaitMs(rank, nowMs)
  }

  #admit(ticket: Ticket, nowMs: number): 'admitted' {
    this.#waiting.recordWait(ticket, nowMs - ticket.arrivedAtMs, nowMs)
    this.#places.take(ticket, nowMs)
    this.#cohorts.recordAdmission(this.#places.taken)
    ticket.state = 'running'
    ticket.startedAtMs = nowMs
    ticket.epoch = this.#limit.begin(nowMs)
    return 'admitted'
  }

  #deny(ticket: Ticket, nowMs: number): 'denied' {
    ticket.state = 'over'
    this.#limit.recordDenial(nowMs)
    this.#places.recordDenial(ticket, nowMs)
    return 'denied'
  }
}
