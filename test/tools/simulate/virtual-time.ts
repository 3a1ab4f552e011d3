import { performance } from 'node:perf_hooks'
import { eventQueue } from './event-queue.js'
import type { Random } from './random.js'

/** A clock that moves from one event to the next. */
export interface VirtualTime {
  now(): number
  /**
   * Calls back at a time, in milliseconds since the start. Then the clock waits until all promises have
   * settled, unless `settles` says that none will.
   */
  at(atMs: number, run: () => void, settles?: boolean): void
  /** Runs all events until a time. */
  runUntil(untilMs: number): Promise<void>
}

/** What a virtual timer returns. */
interface Timer {
  isCleared: boolean
  unref(): Timer
}

/** What is replaced while a simulation runs, so that headgate's own code runs on virtual time. */
const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate }

/**
 * Runs `use` with the global timers, `performance.now` and `Math.random` replaced by virtual ones. Code that
 * it calls then takes no time of the clock, and decides the same each time.
 */
export async function withVirtualTime<T>(random: Random, use: (time: VirtualTime) => Promise<T>): Promise<T> {
  const time = virtualTime()
  const realRandom = Math.random
  Object.assign(globalThis, virtualTimers(time))
  Object.assign(performance, { now: time.now })
  Math.random = random
  try {
    return await use(time)
  } finally {
    Object.assign(globalThis, real)
    Reflect.deleteProperty(performance, 'now') // the prototype has the real one
    Math.random = realRandom
  }
}

function virtualTime(): VirtualTime {
  const events = eventQueue()
  let nowMs = 0
  return {
    now: () => nowMs,
    at: (atMs, run, settles = true) => events.add({ atMs, run, settles }),
    async runUntil(untilMs) {
      for (let event = events.next(untilMs); event; event = events.next(untilMs)) {
        nowMs = event.atMs
        event.run()
        if (event.settles) await new Promise((settled) => real.setImmediate(settled))
      }
      nowMs = untilMs
    },
  }
}

function virtualTimers({ now, at }: VirtualTime) {
  function start(run: () => void, ms: number): Timer {
    const timer: Timer = { isCleared: false, unref: () => timer }
    at(now() + ms, () => {
      if (!timer.isCleared) run()
    })
    return timer
  }

  function repeat(run: () => void, ms: number): Timer {
    const timer: Timer = { isCleared: false, unref: () => timer }
    const next = () => {
      if (timer.isCleared) return
      run()
      at(now() + ms, next)
    }
    at(now() + ms, next)
    return timer
  }

  const clear = (timer: Timer | undefined) => {
    if (timer !== undefined) timer.isCleared = true
  }
  return {
    setTimeout: start,
    clearTimeout: clear,
    setInterval: repeat,
    clearInterval: clear,
    setImmediate: (run: () => void) => start(run, 0),
  }
}
