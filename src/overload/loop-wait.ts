import { builtin, isIsolate } from '../platform.js'

/** What an event loop tells of itself. */
export interface EventLoop {
  readonly now: () => number
  /** Returns how long the loop has waited for events so far, in milliseconds. */
  readonly idleMs: () => number
  /** Calls back once the events of this turn of the loop are handled. */
  readonly afterEvents: (callback: () => void) => unknown
}

/** The queue stands once requests have kept the loop busy for this time. */
const INTERVAL_MS = 100

/** A request counts as this long at most, so that a pause such as a garbage collection is no queue. */
const LONGEST_REQUEST_MS = 20

/** A loop that waited for longer than this between two turns has handled all that had arrived. */
const IDLE_MS = 1

/** Denials that have taken this time let one request be handled, so that some are even if denials take all time. */
const MOST_DENIALS_MS = 20

/**
 * Knows when requests wait in the event loop. With handlers that never await, one request runs at a time, however
 * many wait in their sockets or for a connection, so no queue in the application shows it. What shows it is
 * that the loop never waits for events.
 *
 * If requests have kept it busy for 100 ms, they are late, by the rule of CoDel (RFC 8289), until the loop has
 * caught up. Work other than that on requests does not count.
 */
export class LoopWait {
  /** How many turns have ended, and how long the last one took since its first request. */
  turns = 0
  lastTurnMs = 0
  readonly #loop: EventLoop | undefined
  #turnAtMs: number | undefined
  /** When a request was handled last, or a turn ended. */
  #lastAtMs = 0
  #idleMs = Number.NEGATIVE_INFINITY
  /** Since the loop was idle: the time of requests, at most 20 ms of each; all of it; and that between turns. */
  #busyMs = 0
  #requestsMs = 0
  #betweenMs = 0
  /** How long denials have taken since a request was handled, and whether the last request was denied. */
  #denialsMs = 0
  #wasLate = false

  constructor(loop: EventLoop | undefined) {
    this.#loop = loop
  }

  /** Returns whether a request that is handled now has waited too long. */
  isLate(nowMs: number): boolean {
    if (this.#turnAtMs === undefined) this.#beginTurn(nowMs)
    else this.#count(nowMs)
    const stands = this.#busyMs > INTERVAL_MS && this.#requestsMs >= this.#betweenMs
    this.#wasLate = stands && this.#denialsMs < MOST_DENIALS_MS
    if (!this.#wasLate) this.#denialsMs = 0
    return this.#wasLate
  }

  #beginTurn(nowMs: number): void {
    if (this.#loop === undefined) return
    const idleMs = this.#loop.idleMs()
    if (idleMs - this.#idleMs > IDLE_MS) this.#busyMs = this.#requestsMs = this.#betweenMs = 0
    else this.#betweenMs += nowMs - this.#lastAtMs
    this.#idleMs = idleMs
    this.#turnAtMs = this.#lastAtMs = nowMs
    this.#loop.afterEvents(this.#endTurn)
  }

  readonly #endTurn = (): void => {
    const nowMs = this.#loop?.now() ?? 0
    this.#count(nowMs)
    this.lastTurnMs = nowMs - (this.#turnAtMs ?? 0)
    this.#turnAtMs = undefined
    this.turns++
  }

  /** Counts the time of the request before. */
  #count(nowMs: number): void {
    const tookMs = nowMs - this.#lastAtMs
    this.#busyMs += Math.min(tookMs, LONGEST_REQUEST_MS)
    this.#requestsMs += tookMs
    if (this.#wasLate) this.#denialsMs += tookMs
    this.#lastAtMs = nowMs
  }
}

let shared: LoopWait | undefined

/** Returns the wait in the event loop of this process, which all guards share. */
export function loopWait(): LoopWait {
  shared ??= new LoopWait(isIsolate() ? undefined : eventLoop())
  return shared
}

/**
 * Returns the event loop of Node.js; `undefined` on other platforms. Its modules are used in place of globals,
 * which a test runner may have replaced.
 */
function eventLoop(): EventLoop | undefined {
  const { setImmediate: afterEvents } = builtin<typeof import('node:timers')>('node:timers') ?? {}
  const { performance } = builtin<typeof import('node:perf_hooks')>('node:perf_hooks') ?? {}
  const timing = performance?.nodeTiming
  if (afterEvents === undefined || performance === undefined || typeof timing?.idleTime !== 'number')
    return undefined
  return { now: () => performance.now(), idleMs: () => timing.idleTime, afterEvents }
}
