import type { EventLoop } from '../../../../src/overload/loop-wait.js'
import type { SimRequest } from './world.js'

/** The part of a simulated world that a process is in. */
interface World {
  now(): number
  at(atMs: number, run: () => void): void
  /** Whether the process handles a request, if it does the work itself. */
  isBusy(): boolean
}

/** A timer that is due while the process works is tried again after this time. */
const RETRY_MS = 1

/**
 * A process in virtual time: its clock, its timers and its event loop. If it does the work itself, a turn of its
 * loop takes all requests that arrived during the last one. If it does not, it is idle but for an instant at each event.
 */
export class VirtualProcess {
  readonly now: () => number
  readonly loop: EventLoop
  readonly #world: World
  readonly #isOwnCpu: boolean
  #afterEvents: (() => void)[] = []
  #turn: SimRequest[] = []
  #arrived: SimRequest[] = []
  #next = 0
  #startedAtMs = 0
  #idleMs = 0
  #idleSinceMs: number | undefined = 0

  constructor(world: World, isOwnCpu = false) {
    this.#world = world
    this.#isOwnCpu = isOwnCpu
    this.now = world.now
    this.loop = {
      now: world.now,
      idleMs: () => (isOwnCpu ? this.#idleMs : world.now()),
      afterEvents: (callback) => this.#afterEvents.push(callback),
    }
  }

  /** Calls back after a time, between turns. */
  readonly startTimer = (callback: () => void, delayMs: number): (() => void) => {
    const { now, at, isBusy } = this.#world
    let isStopped = false
    const fire = () => {
      if (isStopped) return
      if (this.#isOwnCpu && isBusy()) at(now() + RETRY_MS, fire)
      else callback()
    }
    at(now() + delayMs, fire)
    return () => {
      isStopped = true
    }
  }

  arrived(request: SimRequest): void {
    this.#arrived.push(request)
  }

  /** Returns the next request of the turn, or of the next turn. */
  next(onTurn: (tookMs: number) => void): SimRequest | undefined {
    const nowMs = this.now()
    if (this.#next >= this.#turn.length) {
      if (this.#turn.length > 0) onTurn(nowMs - this.#startedAtMs)
      this.#endTurn()
      this.#startedAtMs = nowMs
      this.#turn = this.#arrived
      this.#arrived = []
      this.#next = 0
    }
    const request = this.#turn[this.#next++]
    if (request === undefined) this.#idleSinceMs ??= nowMs
    else if (this.#idleSinceMs !== undefined) {
      this.#idleMs += nowMs - this.#idleSinceMs
      this.#idleSinceMs = undefined
    }
    return request
  }

  /** An event of the world is over, and so is its turn, unless it does the work itself. */
  afterEvent(): void {
    if (!this.#isOwnCpu) this.#endTurn()
  }

  #endTurn(): void {
    if (this.#afterEvents.length === 0) return
    const callbacks = this.#afterEvents
    this.#afterEvents = []
    for (const callback of callbacks) callback()
  }
}
