import { builtin, isIsolate } from '../platform.js'

/** Calls back once the events of this turn of the event loop are handled. */
type AfterEvents = (callback: () => void) => unknown

/**
 * Knows how long requests have waited in the event loop. All requests that are read in one turn had arrived
 * when it began, so a request has waited for the work on those before it. No queue in the application shows
 * this wait: with handlers that never await, one request runs at a time, however many wait in their sockets.
 *
 * Until the turn ends, the time of its first request is kept. Requests that arrive during a turn are read in
 * the next one, and what they waited in this one is not counted.
 */
export class LoopWait {
  /** How many turns have ended, and how long the last one took since its first request. */
  turns = 0
  lastTurnMs = 0
  readonly #afterEvents: AfterEvents | undefined
  readonly #now: () => number
  #turnAtMs: number | undefined

  constructor(afterEvents: AfterEvents | undefined, now: () => number) {
    this.#afterEvents = afterEvents
    this.#now = now
  }

  /** Returns since when a request that is handled now has been waiting, at least. */
  arrivedAtMs(nowMs: number): number {
    if (this.#turnAtMs !== undefined) return this.#turnAtMs
    if (this.#afterEvents === undefined) return nowMs
    this.#turnAtMs = nowMs
    this.#afterEvents(this.#endTurn)
    return nowMs
  }

  readonly #endTurn = (): void => {
    this.lastTurnMs = this.#now() - (this.#turnAtMs ?? 0)
    this.#turnAtMs = undefined
    this.turns++
  }
}

/** `setImmediate` of Node.js. A test runner may have replaced the global one by one that it calls itself. */
const { setImmediate: afterEvents } =
  /* @__PURE__ */ builtin<typeof import('node:timers')>('node:timers') ?? {}

let shared: LoopWait | undefined

/** Returns the wait in the event loop of this process, which all guards share. Isolates have none. */
export function loopWait(): LoopWait {
  shared ??= new LoopWait(isIsolate() ? undefined : afterEvents, () => performance.now())
  return shared
}
