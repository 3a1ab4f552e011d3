import { isIsolate } from '../platform.js'
import { AdaptiveLimit } from './adaptive-limit.js'
import { CRITICAL } from './cohorts.js'
import { Deadlines } from './deadlines.js'
import { FairShares } from './fair-shares.js'
import { GuardCore } from './guard-core.js'
import { type LoopWait, loopWait } from './loop-wait.js'
import type { GuardSettings } from './options.js'
import { RecentShare } from './recent-share.js'
import type { Entry, Ticket, Verdict } from './ticket.js'

/** The limit of a server that has not been busy yet, and of one that turns out to be busy. */
const INITIAL_LIMIT = 40
const INITIAL_LIMIT_IF_BUSY = 20

/** An event loop is busy if it has not been idle for this time. */
const BUSY_MS = 50

/** The ratio of latency to baseline that counts as healthy. */
const TOLERANCE = 1.4

/** The share of places that are kept for critical requests, once there are any. */
const CRITICAL_SHARE = 0.2

/** How long a request may wait in a standing queue (`Codel`). */
const TARGET_WAIT_MS = 5

/** How often waiting requests are checked, besides each time that a request ends. */
const TICK_MS = 5

/** Denied clients are asked to come back after a random time between these, and later if most are denied. */
const SHORTEST_RETRY_MS = 500
const LONGEST_RETRY_MS = 3000
const LAST_RETRY_MS = 30_000
const FEW = 10

/** What a guard does at the moment. */
export interface OverloadStatus {
  /** How many requests may run at once. */
  readonly limit: number
  /** How many have a place: those that have not sent the first byte of their response. */
  readonly running: number
  /** How many wait for a place. */
  readonly waiting: number
  /** The share of recent requests that were not denied by their priority or client, from 0 to 1. */
  readonly passingShare: number
  /** The share of the requests of the last seconds that were denied, from 0 to 1. */
  readonly deniedShare: number
  /** Whether the limit is low for a moment, to measure how long requests take without a queue. */
  readonly isProbing: boolean
  /** Why processes cannot share their tenants. Absent if they can, or if there is no `store`. */
  readonly storeProblem?: string
}

/** What a guard needs from its process. Tests pass their own. */
export interface ProcessClock {
  readonly now: () => number
  readonly loop: LoopWait
  readonly random: () => number
  /**
   * Calls back after a time, and returns what cancels that. It keeps the process alive: a call that waits
   * has nothing else that does, and no wait is longer than `maxWait`.
   */
  readonly startTimer: (callback: () => void, delayMs: number) => () => void
}

function processClock(): ProcessClock {
  return { now: () => performance.now(), loop: loopWait(), random: Math.random, startTimer }
}

function startTimer(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs)
  return () => clearTimeout(timer)
}

/** A guard in its process, with its clock, its event loop, and a timer while requests wait. */
export class ProcessGuard {
  readonly #core: GuardCore
  readonly #limit: AdaptiveLimit
  readonly #clock: ProcessClock
  readonly #denials = new RecentShare()
  readonly tenants: FairShares
  readonly deadlines = new Deadlines()
  #turns = 0
  #stopTimer: (() => void) | undefined

  constructor(settings: GuardSettings, canProbe: () => boolean, clock = processClock()) {
    const { minLimit, maxLimit, maxWaitMs, weightOf } = settings
    this.#clock = clock
    this.tenants = new FairShares(weightOf)
    this.#limit = new AdaptiveLimit({
      initial: INITIAL_LIMIT,
      initialIfBusy: INITIAL_LIMIT_IF_BUSY,
      min: minLimit,
      max: maxLimit,
      tolerance: TOLERANCE,
      random: clock.random,
      canProbe,
    })
    this.#core = new GuardCore({
      limit: this.#limit,
      criticalShare: CRITICAL_SHARE,
      targetWaitMs: Math.min(TARGET_WAIT_MS, maxWaitMs),
      burstWaitMs: maxWaitMs,
      canWait: maxWaitMs > 0 && !isIsolate(), // on isolates, no timer runs between requests
      tenants: this.tenants,
    })
  }

  /** Returns whether the verdict on a request may depend on its client. */
  get readsClients(): boolean {
    return this.#core.readsClients
  }

  /** Decides about a request, which becomes a ticket. If it has to wait, its `settle` is called. */
  offerRequest(entry: Entry): Verdict {
    const { now, loop } = this.#clock
    const nowMs = now()
    const isLate = loop.recordRequest(nowMs, entry.priority === CRITICAL)
    if (loop.turns !== this.#turns) {
      this.#turns = loop.turns
      this.#limit.recordLoopDelay(loop.lastTurnMs)
    }
    if (loop.busyMs(nowMs) > BUSY_MS) this.#limit.recordBusyLoop(this.#core.running)
    return this.#offer(entry, nowMs, isLate)
  }

  /** Decides about a call of the application, which has not waited in the event loop. */
  offerCall(entry: Entry): Verdict {
    return this.#offer(entry, this.#clock.now(), false)
  }

  #offer(entry: Entry, nowMs: number, isLate: boolean): Verdict {
    this.deadlines.expireDue(nowMs)
    const verdict = this.#core.offer(entry, nowMs, isLate)
    if (verdict === 'waiting') this.#startTimer()
    else this.#denials.count(verdict === 'denied', nowMs)
    return verdict
  }

  /** Counts the verdict on a request that has waited. */
  recordVerdict(isAdmitted: boolean): void {
    this.#denials.count(!isAdmitted, this.#clock.now())
  }

  /** Takes back the place of a request, or removes it from the queue. */
  end(ticket: Ticket, routeClass: string, isSample: boolean): void {
    if (ticket.state === 'waiting') this.#core.leave(ticket)
    else this.#core.end(ticket, this.#clock.now(), routeClass, isSample)
  }

  /**
   * Returns whether a request has run for longer than the baseline of its class. If its client gives up
   * then, the server is slow. A request that is cancelled earlier says nothing about the server.
   */
  isSlow(ticket: Ticket, routeClass: string): boolean {
    return this.ranMs(ticket) > (this.baselineMs(routeClass) ?? Number.POSITIVE_INFINITY)
  }

  /** Returns how long requests of a class take without a queue, in milliseconds; `undefined` if unknown. */
  baselineMs(routeClass: string): number | undefined {
    return this.#limit.baselineMs(routeClass)
  }

  /** Returns for how long a request has had its place. */
  ranMs({ startedAtMs }: Ticket): number {
    return this.#clock.now() - startedAtMs
  }

  /** Returns the time of the monotonic clock by which the guard decides. */
  now(): number {
    return this.#clock.now()
  }

  /** Returns how many requests may run at once now. */
  get places(): number {
    return Math.floor(this.#limit.current)
  }

  get running(): number {
    return this.#core.running
  }

  /** Returns when a denied client should come back. The times differ, so that not all come back at once. */
  retryAfterMs(): number {
    const passing = 1 - this.#denials.share(this.#clock.now(), FEW)
    const longest = Math.min(LAST_RETRY_MS, LONGEST_RETRY_MS / passing)
    return Math.ceil(SHORTEST_RETRY_MS + this.#clock.random() * (longest - SHORTEST_RETRY_MS))
  }

  /** Returns what the guard does at the moment, once the places that are due have been given back. */
  status(): OverloadStatus {
    this.deadlines.expireDue(this.#clock.now())
    return {
      limit: Math.floor(this.#limit.limit),
      running: this.#core.running,
      waiting: this.#core.waiting,
      passingShare: this.#core.passingShare,
      deniedShare: this.#denials.share(this.#clock.now()),
      isProbing: this.#limit.isProbing,
    }
  }

  /** Denies all waiting requests. From now on, no request waits. */
  close(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#core.close(this.#clock.now())
  }

  #startTimer(): void {
    this.#stopTimer ??= this.#clock.startTimer(this.#tick, TICK_MS)
  }

  readonly #tick = (): void => {
    this.#stopTimer = undefined
    const nowMs = this.#clock.now()
    this.deadlines.expireDue(nowMs)
    this.#core.advance(nowMs)
    if (this.#core.waiting > 0) this.#startTimer()
  }
}
