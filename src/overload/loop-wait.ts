import { builtin, isIsolate } from '../platform.js'

/** What a guard reads from an event loop. */
export interface EventLoop {
  readonly now: () => number
  /** Returns how long the loop has waited for events so far, in milliseconds. */
  readonly idleMs: () => number
  /** Calls back once the events of this turn of the loop are handled. */
  readonly afterEvents: (callback: () => void) => unknown
}

/** A request is late after it has waited this long in the event loop. A critical one may wait for longer. */
const LONGEST_WAIT_MS = 120
const LONGEST_CRITICAL_WAIT_MS = 500

/**
 * A loop that has been busy for less than this time has a burst, unless a request was late in the last 2 s.
 */
const BURST_MS = 400
const MOMENT_MS = 2000

/** One piece of work counts as this long at most, so that a pause does not make many requests late. */
const LONGEST_WORK_MS = 50

/** A loop that idled for longer than this between two turns had handled everything that had arrived. */
const IDLE_MS = 1

/** After this much time spent on denials, one late request passes, so that some are always served. */
const MOST_DENIALS_MS = 20

/**
 * Estimates how long requests wait in the event loop. If handlers never await, one request runs at a time.
 * The others wait in their sockets, where no queue of the application shows them.
 *
 * Unless the loop was idle, a request that is handled in one turn arrived during the turn before, on average
 * in the middle of it. It has waited for the rest of that turn, and for the requests before it in this turn.
 */
export class LoopWait {
  /** How many turns have ended, and how long the last one took from its first request on. */
  turns = 0
  lastTurnMs = 0
  readonly #loop: EventLoop | undefined
  #turnAtMs: number | undefined
  /** When a request was handled last, or a turn ended. */
  #lastAtMs = 0
  #idleMs = Number.NEGATIVE_INFINITY
  /**
   * How long requests had waited when this turn began, and the work since then: at most 50 ms for each
   * piece.
   */
  #waitedMs = 0
  #workMs = 0
  /** How long denials have taken since a request last passed, and whether the last request was late. */
  #denialsMs = 0
  #wasLate = false
  #lateAtMs = Number.NEGATIVE_INFINITY
  /** Since when the loop has not been idle. */
  #busySinceMs = 0

  constructor(loop: EventLoop | undefined) {
    this.#loop = loop
  }

  /**
   * Records that a request is handled now, and returns whether it has waited too long. A critical one may
   * wait for longer.
   */
  recordRequest(nowMs: number, isCritical: boolean): boolean {
    if (this.#turnAtMs === undefined) this.#beginTurn(nowMs)
    else this.#countWork(nowMs)
    const longestMs = isCritical ? LONGEST_CRITICAL_WAIT_MS : LONGEST_WAIT_MS
    const isBurst = nowMs - this.#busySinceMs < BURST_MS && nowMs - this.#lateAtMs > MOMENT_MS
    const isLong = this.#waitedMs + this.#workMs > longestMs
    this.#wasLate = isLong && !isBurst && this.#denialsMs < MOST_DENIALS_MS
    if (this.#wasLate) this.#lateAtMs = nowMs
    else this.#denialsMs = 0
    return this.#wasLate
  }

  /** Returns how long the loop has not been idle: always, if the platform does not tell. */
  busyMs(nowMs: number): number {
    return this.#loop === undefined ? Number.POSITIVE_INFINITY : nowMs - this.#busySinceMs
  }

  #beginTurn(nowMs: number): void {
    if (this.#loop === undefined) return
    this.#wasLate = false // the time between turns is not that of a denial
    this.#countWork(nowMs)
    const idleMs = this.#loop.idleMs()
    const wasIdle = idleMs - this.#idleMs > IDLE_MS
    if (wasIdle) this.#busySinceMs = nowMs
    this.#waitedMs = wasIdle ? 0 : this.#workMs / 2
    this.#workMs = 0
    this.#idleMs = idleMs
    this.#turnAtMs = nowMs
    this.#loop.afterEvents(this.#endTurn)
  }

  readonly #endTurn = (): void => {
    const nowMs = this.#loop?.now() ?? 0
    this.#countWork(nowMs)
    this.lastTurnMs = nowMs - (this.#turnAtMs ?? 0)
    this.#turnAtMs = undefined
    this.turns++
  }

  /** Counts the time since the last request as that of one piece of work. */
  #countWork(nowMs: number): void {
    const tookMs = nowMs - this.#lastAtMs
    this.#workMs += Math.min(tookMs, LONGEST_WORK_MS)
    if (this.#wasLate) this.#denialsMs += tookMs
    this.#lastAtMs = nowMs
  }
}

let shared: LoopWait | undefined

/** Returns the estimate for this process, which all guards share. */
export function loopWait(): LoopWait {
  shared ??= new LoopWait(isIsolate() ? undefined : eventLoop())
  return shared
}

/**
 * Returns the event loop of Node.js; `undefined` on other platforms. Its modules are used in place of
 * globals, which a test runner may have replaced.
 */
function eventLoop(): EventLoop | undefined {
  const { setImmediate: afterEvents } = builtin<typeof import('node:timers')>('node:timers') ?? {}
  const { performance } = builtin<typeof import('node:perf_hooks')>('node:perf_hooks') ?? {}
  const timing = performance?.nodeTiming
  if (afterEvents === undefined || performance === undefined || typeof timing?.idleTime !== 'number')
    return undefined
  return { now: () => performance.now(), idleMs: () => timing.idleTime, afterEvents }
}
