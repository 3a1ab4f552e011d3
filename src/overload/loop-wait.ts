import { builtin, isIsolate } from '../platform.js'

/** What an event loop tells of itself. */
export interface EventLoop {
  readonly now: () => number
  /** Returns how long the loop has waited for events so far, in milliseconds. */
  readonly idleMs: () => number
  /** Calls back once the events of this turn of the loop are handled. */
  readonly afterEvents: (callback: () => void) => unknown
}

/** Requests that have kept the loop busy for this time are a queue, by how long the last queues were. */
const SHORTEST_INTERVAL_MS = 100
const LONGEST_INTERVAL_MS = 1000

/** How much work a queue should be when it is found. */
const TARGET_QUEUE_MS = 100

/** A request counts as this long at most, so that a pause such as a garbage collection is no queue. */
const LONGEST_REQUEST_MS = 20

/** A loop that waited for longer than this between two turns has handled all that had arrived. */
const IDLE_MS = 0.2

/** Denials that have taken this time let one request be handled, so that some are even if denials take all time. */
const MOST_DENIALS_MS = 20

/** What has happened since the loop was idle. Times are in milliseconds. */
interface BusyPeriod {
  /** The time of requests, at most 20 ms of each; all of it; and that between turns. */
  cappedMs: number
  requestsMs: number
  betweenMs: number
  /** Requests that were not late, and their time. */
  handled: number
  handledMs: number
  /** Requests that were late. */
  late: number
}

/**
 * Knows when requests wait in the event loop. With handlers that never await, one request runs at a time, however
 * many wait in their sockets or for a connection, so no queue in the application shows it. What shows it is
 * that the loop never waits for events.
 *
 * If requests have kept it busy for an interval, they are late, by the rule of CoDel (RFC 8289), until the loop
 * has caught up. How many were late is how long the queue was. A loop is busy for a while without a
 * long queue if its load is high, so the interval is 1 s at first. It shortens while queues are longer than 100 ms,
 * down to 100 ms, and lengthens while they are shorter. Work other than that on requests does not count.
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
  #intervalMs = LONGEST_INTERVAL_MS
  #busy: BusyPeriod = noBusyPeriod()
  /** How long denials have taken since a request was handled, and whether the last request was late. */
  #denialsMs = 0
  #wasLate = false

  constructor(loop: EventLoop | undefined) {
    this.#loop = loop
  }

  /** Returns whether a request that is handled now has waited too long. A critical one may wait for longer. */
  isLate(nowMs: number, isCritical: boolean): boolean {
    if (this.#turnAtMs === undefined) this.#beginTurn(nowMs)
    else this.#count(nowMs)
    const { cappedMs, requestsMs, betweenMs } = this.#busy
    const intervalMs = isCritical ? LONGEST_INTERVAL_MS : this.#intervalMs
    const stands = cappedMs > intervalMs && requestsMs >= betweenMs
    this.#wasLate = stands && this.#denialsMs < MOST_DENIALS_MS
    if (this.#wasLate) this.#busy.late++
    else this.#busy.handled++
    if (!this.#wasLate) this.#denialsMs = 0
    return this.#wasLate
  }

  #beginTurn(nowMs: number): void {
    if (this.#loop === undefined) return
    const idleMs = this.#loop.idleMs()
    if (idleMs - this.#idleMs > IDLE_MS) this.#catchUp()
    else this.#busy.betweenMs += nowMs - this.#lastAtMs
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
    this.#busy.cappedMs += Math.min(tookMs, LONGEST_REQUEST_MS)
    this.#busy.requestsMs += tookMs
    if (this.#wasLate) this.#denialsMs += tookMs
    else this.#busy.handledMs += tookMs
    this.#lastAtMs = nowMs
  }

  /** The loop has been idle. Learns from the queue that it found, if there was one. */
  #catchUp(): void {
    const { late, handled, handledMs, cappedMs } = this.#busy
    this.#busy = noBusyPeriod()
    if (late === 0) return
    const queueMs = (late * handledMs) / handled
    const foundAfterMs = Math.min(this.#intervalMs, cappedMs)
    const intervalMs = (foundAfterMs * TARGET_QUEUE_MS) / queueMs
    this.#intervalMs = Math.min(LONGEST_INTERVAL_MS, Math.max(SHORTEST_INTERVAL_MS, intervalMs))
  }
}

function noBusyPeriod(): BusyPeriod {
  return { cappedMs: 0, requestsMs: 0, betweenMs: 0, handled: 0, handledMs: 0, late: 0 }
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
