import { builtin, isIsolate } from '../platform.js'

/** Calls back once the events of this turn of the event loop are handled. */
type AfterEvents = (callback: () => void) => unknown

/** A request may wait in the event loop for this time while its queue stands. */
const TARGET_MS = 5

/** The queue stands if a request has waited for longer than that in each turn of this time. */
const INTERVAL_MS = 100

/**
 * Knows which requests have waited too long in the event loop, by the rule of CoDel (RFC 8289). All requests
 * that are read in one turn had arrived when it began, so a request has waited for the work on those before it.
 * No queue in the application shows this wait: with handlers that never await, one request runs at a time,
 * however many wait in their sockets. What a request waited in earlier turns is not known.
 *
 * A pause, such as a garbage collection, makes requests late in one turn, and none of them is denied.
 */
export class LoopWait {
  /** How many turns have ended, and how long the last one took since its first request. */
  turns = 0
  lastTurnMs = 0
  readonly #afterEvents: AfterEvents | undefined
  readonly #now: () => number
  #turnAtMs: number | undefined
  #endedAtMs = Number.NEGATIVE_INFINITY
  #longestMs = 0
  /** Since when each turn had a request that was late. */
  #standsSinceMs = Number.POSITIVE_INFINITY

  constructor(afterEvents: AfterEvents | undefined, now: () => number) {
    this.#afterEvents = afterEvents
    this.#now = now
  }

  /** Returns whether a request that is handled now has waited too long. */
  isLate(nowMs: number): boolean {
    if (this.#turnAtMs === undefined) {
      this.#beginTurn(nowMs)
      return false
    }
    const waitedMs = nowMs - this.#turnAtMs
    this.#longestMs = waitedMs
    return waitedMs > TARGET_MS && nowMs - this.#standsSinceMs > INTERVAL_MS
  }

  #beginTurn(nowMs: number): void {
    if (this.#afterEvents === undefined) return
    if (nowMs - this.#endedAtMs > INTERVAL_MS) this.#standsSinceMs = Number.POSITIVE_INFINITY
    this.#turnAtMs = nowMs
    this.#longestMs = 0
    this.#afterEvents(this.#endTurn)
  }

  readonly #endTurn = (): void => {
    const turnAtMs = this.#turnAtMs ?? 0
    this.#endedAtMs = this.#now()
    this.lastTurnMs = this.#endedAtMs - turnAtMs
    this.#turnAtMs = undefined
    this.turns++
    if (this.#longestMs <= TARGET_MS) this.#standsSinceMs = Number.POSITIVE_INFINITY
    else if (this.#standsSinceMs === Number.POSITIVE_INFINITY) this.#standsSinceMs = turnAtMs
  }
}

let shared: LoopWait | undefined

/**
 * Returns the wait in the event loop of this process, which all guards share. Isolates have none. It uses
 * `setImmediate` of Node.js, since a test runner may have replaced the global one.
 */
export function loopWait(): LoopWait {
  shared ??= new LoopWait(afterEventsOf(), () => performance.now())
  return shared
}

function afterEventsOf(): AfterEvents | undefined {
  return isIsolate() ? undefined : builtin<typeof import('node:timers')>('node:timers')?.setImmediate
}
