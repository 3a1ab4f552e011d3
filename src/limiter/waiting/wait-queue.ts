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
  /** The units that it holds in other queues while it sleeps. */
  readonly holds: Map<Queue, number>
  /** Resolves when it may charge, or its wait is over. */
  turn: Promise<void> | undefined
  /** Resolves `turn`. */
  wake: () => void
}

/** A wait that a waiter must begin before it charges. Times are those of `performance.now()`. */
export interface KeyWait {
  readonly queue: Queue
  /** When the queue wakes; 0 if it is not asleep, as while charges are under way. */
  readonly asleepUntilMs: number
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
  /** The units that waiters hold while they sleep in other queues. */
  #held = 0
  /** Whether units came back while charges were under way, so that their figures do not show it. */
  #isOutdated = false
  readonly #figures = new KeyFigures()
  /** When the queue will wake, or last woke. 0 if it has never slept. */
  #untilMs = 0
  #cancelTimer: (() => void) | undefined

  constructor({ key, policy }: NamedPart) {
    this.key = key
    this.#hasHints = policy.holdsUnits === true
  }

  get isEmpty(): boolean {
    return this.waiters.length === 0 && this.#charges === 0 && this.#held === 0
  }

  /** Returns what a waiter must wait for before it charges; `undefined` if it may charge now. */
  waitOf(waiter: Waiter): KeyWait | undefined {
    const own = this.#partOf(waiter)
    const [first = waiter] = this.waiters
    const next = first.arrival < waiter.arrival ? this.#partOf(first) : own
    const turnAtMs = this.#turnAtMs(next)
    if (turnAtMs === 0 && next === own) return undefined
    const asleepUntilMs = turnAtMs === Number.POSITIVE_INFINITY ? 0 : turnAtMs
    const isCertain = !this.#hasHints && isSamePolicy(own.policy, next.policy)
    const isNext = asleepUntilMs > 0 && isCertain && next === own
    return { queue: this, asleepUntilMs, earliestMs: isCertain ? asleepUntilMs : 0, isNext }
  }

  /**
   * Inserts a waiter at its place, unless it is there. Wakes the first one if the new one has another policy,
   * so that its own may have changed, or if the new one goes before it while it holds units elsewhere.
   */
  insert(waiter: Waiter): void {
    if (waiter.queues.has(this)) return
    const [first = waiter] = this.waiters
    const isChanged = !isSamePolicy(this.#partOf(first).policy, this.#partOf(waiter).policy)
    if (isChanged || (first.arrival > waiter.arrival && first.holds.size > 0)) first.wake()
    waiter.queues.add(this)
    const i = this.waiters.findLastIndex(({ arrival }) => arrival < waiter.arrival)
    this.waiters.splice(i + 1, 0, waiter)
  }

  remove(waiter: Waiter): void {
    if (waiter.queues.delete(this)) this.waiters.splice(this.waiters.indexOf(waiter), 1)
  }

  /**
   * Lets a waiter whose turn it is here hold its units until another queue wakes, unless the limit would
   * restore them sooner. So a hold costs others no more than a charge.
   */
  holdUntil(untilMs: number, waiter: Waiter): void {
    const part = this.#partOf(waiter)
    if (untilMs - performance.now() > restoreMs(part) || this.waitOf(waiter) !== undefined) return
    this.#held += part.cost
    waiter.holds.set(this, part.cost)
  }

  release(units: number): void {
    this.#held -= units
  }

  start(waiter: Waiter): void {
    this.#charges += 1
    this.#units += this.#partOf(waiter).cost
  }

  /** Ends a charge. Without figures, only the next charge can tell what is left. */
  end(waiter: Waiter, figures: PartDecision | undefined): void {
    const { cost, policy } = this.#partOf(waiter)
    this.#charges -= 1
    this.#units -= cost
    this.#figures.record(policy, figures)
    if (this.#isOutdated) this.#figures.expire()
    if (this.#charges === 0) this.#isOutdated = false
  }

  /** Lets the first waiter try again, because units may have come back. */
  retry(): void {
    this.#isOutdated = this.#charges > 0
    this.#figures.expire()
    this.update()
  }

  /** Wakes the first waiter if it may charge now. Otherwise, sets a timer if it is known when it may. */
  update(): void {
    const [first] = this.waiters
    const untilMs = first === undefined ? Number.POSITIVE_INFINITY : this.#turnAtMs(this.#partOf(first))
    if (this.#cancelTimer !== undefined && untilMs === this.#untilMs) return
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    if (untilMs === 0) first?.wake()
    else if (untilMs !== Number.POSITIVE_INFINITY) this.#sleepUntil(untilMs)
  }

  /**
   * Lets the queue sleep until a time. At once, wakes the waiters that cannot wait that long, and those that
   * are also in other queues, which they would hold up.
   */
  #sleepUntil(untilMs: number): void {
    this.#untilMs = untilMs
    this.#cancelTimer = callAt(untilMs, () => this.retry())
    for (const { queues, deadlineMs, wake } of this.waiters)
      if (queues.size > 1 || (deadlineMs <= untilMs && !this.#hasHints)) wake()
  }

  /** Returns when the first waiter may charge: 0 for now, `Infinity` if charges or holds must end first. */
  #turnAtMs(part: NamedPart): number {
    const isAlone = this.#charges === 0
    const atMs = this.#figures.allowedAtMs(part, this.#units + this.#held)
    if (atMs === 0) return this.#charges < MAX_CHARGES ? 0 : Number.POSITIVE_INFINITY
    if (!isAlone || (atMs !== undefined && this.#held > 0)) return Number.POSITIVE_INFINITY
    return atMs ?? 0 // if the figures do not tell, only a charge can
  }

  #partOf({ parts }: Waiter): NamedPart {
    return parts.find(({ key }) => key === this.key) as NamedPart
  }

  /** Returns a denial for a waiter without a charge. Returns `undefined` if the queue has never slept. */
  denialOf(waiter: Waiter): Decision | undefined {
    return this.#untilMs === 0 ? undefined : this.#figures.denialOf(this.#partOf(waiter), this.#untilMs)
  }
}
