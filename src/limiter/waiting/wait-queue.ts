import { isSamePolicy } from '../../policies/policy.js'
import { callAt } from '../../util/call-at.js'
import type { Decision, PartDecision } from '../decision.js'
import type { NamedPart } from '../receipt.js'
import { KeyFigures, restoreMs } from './key-figures.js'

/** A charge that waits until it is allowed. */
export interface Waiter {
  readonly subject: unknown
  /** The cost that its caller gave, if any. */
  readonly cost: number | undefined
  /** Its place in the order of arrival. */
  readonly arrival: number
  /** When its wait must end, by `performance.now()`. */
  readonly deadlineMs: number
  readonly signal: AbortSignal | undefined
  /** What it charges, as it was resolved last. */
  parts: readonly NamedPart[]
  /** How often the rules had changed by then. */
  changes: number
  /** Identifies the client: all its keys, since several clients may share one of them. */
  client: string
  /** The client for which it took one of the limiter's places. */
  placeOf: string | undefined
  readonly queues: Set<Queue>
  /** The keys in whose queues it has slept. */
  readonly slept: Set<string>
  /** The queues in which it reserves units while it sleeps in another one. */
  readonly reservedIn: Set<Queue>
  /** Resolves when it may charge, or its wait is over. */
  turn: Promise<void> | undefined
  /** Resolves `turn`. */
  wake: () => void
}

/** A wait that a waiter must begin before it charges. Times are those of `performance.now()`. */
export interface KeyWait {
  readonly queue: Queue
  /**
   * The latest time at which the queue wakes. 0 if it is not asleep, as while charges are under way, and
   * `Infinity` if it sleeps until an earlier waiter has used its reservation.
   */
  readonly wakesByMs: number
  /** The earliest time at which the waiter may be allowed. 0 if it is not known. */
  readonly earliestMs: number
  /** Whether the queue sleeps until the waiter may charge. */
  readonly isNext: boolean
}

/** The most charges of one key that waiters may have under way. */
const MAX_CHARGES = 64

/**
 * The waiters of one key, by arrival. The first waiter wakes once no charge of the key is under way, or
 * earlier if enough units are left for its charge as well. If there are not enough units even without other
 * charges, the queue sleeps until there are.
 */
export class Queue {
  readonly key: string
  readonly waiters: Waiter[] = []
  /** Whether the times in denials are only hints, because a release may come earlier. */
  readonly #hasHints: boolean
  /** The charges of the key that are under way, and their units. */
  #charges = 0
  #units = 0
  /** The units that waiters reserve while they sleep in other queues. */
  readonly #reservations = new Map<Waiter, number>()
  /** Whether units came back since a charge began. Its figures may not show them. */
  #haveUnitsComeBack = false
  readonly #figures = new KeyFigures()
  /** When the queue will wake, or last woke. 0 if it has never slept. */
  #untilMs = 0
  #cancelTimer: (() => void) | undefined

  constructor({ key, policy }: NamedPart) {
    this.key = key
    this.#hasHints = policy.holdsUnits === true
  }

  get isEmpty(): boolean {
    return this.waiters.length === 0 && this.#charges === 0 && this.#reservations.size === 0
  }

  /** Returns what a waiter must wait for before it charges; `undefined` if it may charge now. */
  waitOf(waiter: Waiter): KeyWait | undefined {
    const [first = waiter] = this.waiters
    const next = first.arrival < waiter.arrival ? first : waiter
    const asleepUntilMs = this.#asleepUntilMs(next)
    if (asleepUntilMs === undefined && next === waiter) return undefined
    return this.#waitFor(waiter, next, asleepUntilMs ?? 0)
  }

  #waitFor(waiter: Waiter, next: Waiter, asleepUntilMs: number): KeyWait {
    const part = this.#partOf(waiter)
    const isAsleep = asleepUntilMs > 0 && asleepUntilMs !== Number.POSITIVE_INFINITY
    const isHint = this.#hasHints && isAsleep
    const isCertain = isAsleep && !isHint && isSamePolicy(part.policy, this.#partOf(next).policy)
    return {
      queue: this,
      wakesByMs: isHint ? performance.now() + restoreMs(part) : asleepUntilMs,
      earliestMs: isCertain ? asleepUntilMs : 0,
      isNext: isAsleep && next === waiter,
    }
  }

  /**
   * Inserts a waiter at its place, unless it is there. Wakes the first one if the new one has another policy,
   * so that its own may have changed, or if the new one goes before it while it reserves units elsewhere.
   */
  insert(waiter: Waiter): void {
    if (waiter.queues.has(this)) return
    const [first = waiter] = this.waiters
    const isChanged = !isSamePolicy(this.#partOf(first).policy, this.#partOf(waiter).policy)
    if (isChanged || (first.arrival > waiter.arrival && first.reservedIn.size > 0)) first.wake()
    waiter.queues.add(this)
    const i = this.waiters.findLastIndex(({ arrival }) => arrival < waiter.arrival)
    this.waiters.splice(i + 1, 0, waiter)
  }

  remove(waiter: Waiter): void {
    if (waiter.queues.delete(this)) this.waiters.splice(this.waiters.indexOf(waiter), 1)
  }

  /**
   * Reserves the units of a waiter until another queue wakes, unless the limit would restore them sooner. So
   * a reservation costs others no more than a charge. Earlier waiters ignore it: two that have reserved what
   * the other needs would wait forever.
   */
  reserveUntil(untilMs: number, waiter: Waiter): void {
    const part = this.#partOf(waiter)
    if (untilMs > performance.now() + restoreMs(part)) return
    this.#reservations.set(waiter, part.cost)
    waiter.reservedIn.add(this)
  }

  /** Ends the reservation of a waiter. */
  release(waiter: Waiter): void {
    this.#reservations.delete(waiter)
  }

  start(waiter: Waiter): void {
    if (this.#charges === 0) this.#haveUnitsComeBack = false
    this.#charges += 1
    this.#units += this.#partOf(waiter).cost
  }

  /** Ends a charge. Without figures, only the next charge can tell what is left. */
  end(waiter: Waiter, figures: PartDecision | undefined): void {
    const { cost, policy } = this.#partOf(waiter)
    this.#charges -= 1
    this.#units -= cost
    this.#figures.record(policy, figures)
    if (this.#haveUnitsComeBack) this.#figures.expire()
  }

  /** Lets the first waiter try again, because units may have come back. */
  retry(): void {
    this.#haveUnitsComeBack = true
    this.#figures.expire()
    this.update()
  }

  /** Wakes the first waiter if it may charge now. Otherwise, sleeps until it may. */
  update(): void {
    const [first] = this.waiters
    const untilMs = first === undefined ? 0 : this.#asleepUntilMs(first)
    if (this.#cancelTimer !== undefined && untilMs === this.#untilMs) return
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    if (untilMs === undefined) first?.wake()
    else if (untilMs > 0) this.#sleepUntil(untilMs)
  }

  /**
   * Lets the queue sleep until a time. At once, wakes the waiters that cannot wait that long, and those that
   * are also in other queues, which they would hold up.
   */
  #sleepUntil(untilMs: number): void {
    const isKnown = untilMs !== Number.POSITIVE_INFINITY
    if (isKnown) {
      this.#untilMs = untilMs
      this.#cancelTimer = callAt(untilMs, () => this.retry())
    }
    for (const { queues, deadlineMs, wake } of this.waiters)
      if (queues.size > 1 || (isKnown && !this.#hasHints && deadlineMs <= untilMs)) wake()
  }

  /**
   * Returns until when the queue sleeps for a waiter that is first in it: `Infinity` if reservations must end,
   * 0 if it does not sleep because charges are under way. Returns `undefined` if the waiter may charge now.
   */
  #asleepUntilMs(waiter: Waiter): number | undefined {
    const reserved = this.#reservedBefore(waiter)
    const atMs = this.#figures.allowedAtMs(this.#partOf(waiter), this.#units + reserved)
    if (atMs === 0) return this.#charges < MAX_CHARGES ? undefined : 0
    if (this.#charges > 0) return 0
    const isTold = atMs !== undefined || !this.#haveUnitsComeBack
    if (isTold && reserved > 0) return Number.POSITIVE_INFINITY
    return atMs === Number.POSITIVE_INFINITY ? undefined : atMs // only a charge can tell
  }

  /** Returns the units that earlier waiters reserve. */
  #reservedBefore({ arrival }: Waiter): number {
    let reserved = 0
    for (const [waiter, units] of this.#reservations) if (waiter.arrival < arrival) reserved += units
    return reserved
  }

  #partOf({ parts }: Waiter): NamedPart {
    return parts.find(({ key }) => key === this.key) as NamedPart
  }

  /** Returns a denial for a waiter without a charge. Returns `undefined` if the queue has never slept. */
  denialOf(waiter: Waiter): Decision | undefined {
    return this.#untilMs === 0 ? undefined : this.#figures.denialOf(this.#partOf(waiter), this.#untilMs)
  }
}
