import type { Meter } from './meter.js'
import { raisePeak } from './peak.js'

/** How many times it keeps of a client. */
const MAX_TIMES = 64
/** The index of the first time in a state. */
const FIRST = 1

/**
 * Creates the meter of a sliding log. A log without a limit has no end, so this one keeps 64 times at most, with
 * the units of each: up to 64 requests in a window are exact. Of more, it counts neighbours as taken together,
 * when the later one was. So it counts units for too long, by some 3% of the window, and never for too short.
 * State, which it changes in place: the units in use, then the times, oldest first, each followed by its units.
 */
export function logMeter(windowMs: number): Meter {
  function dropExpired(log: number[], nowMs: number): void {
    const latestMs = Math.ceil(nowMs)
    if ((log.at(-2) ?? 0) > latestMs) clamp(log, latestMs)
    let end = FIRST
    while (end < log.length && (log[end] as number) <= nowMs - windowMs) {
      log[0] = (log[0] as number) - (log[end + 1] as number)
      end += 2
    }
    if (end > FIRST) log.splice(FIRST, end - FIRST)
  }

  return {
    width: 2 * MAX_TIMES + 2,
    add(client, atMs, units) {
      const log = (client.state ?? [0]) as number[] // this meter made it
      dropExpired(log, atMs)
      const at = Math.ceil(atMs)
      if (log.length > FIRST && log.at(-2) === at) log[log.length - 1] = (log.at(-1) as number) + units
      else log.push(at, units)
      log[0] = (log[0] as number) + units
      if (log.length > FIRST + 2 * MAX_TIMES) joinClosest(log)
      client.state = log
      raisePeak(client, log[0])
    },
    refund({ state }, nowMs, { cost, takenAtMs }) {
      const takenMs = Math.ceil(takenAtMs)
      if (state === undefined || takenMs + windowMs <= nowMs) return
      const log = state as number[] // this meter made it
      let at = FIRST
      while (at < log.length && (log[at] as number) < takenMs) at += 2
      if (at >= log.length) return
      const back = Math.min(cost, log[at + 1] as number)
      log[at + 1] = (log[at + 1] as number) - back
      log[0] = (log[0] as number) - back
      if (log[at + 1] === 0) log.splice(at, 2)
    },
    take(client, nowMs) {
      const [peak = 0] = client.peaks
      const log = client.state?.slice()
      if (log !== undefined) dropExpired(log, nowMs)
      const used = log?.[0] ?? 0
      if (used === 0) client.state = undefined
      client.peaks = used === 0 ? [] : [used]
      return [peak]
    },
  }
}

/** After a step back of the clock, units that were taken later than now count as taken now, as in the policy. */
function clamp(log: number[], latestMs: number): void {
  for (let i = FIRST; i < log.length; i += 2) log[i] = Math.min(log[i] as number, latestMs)
}

/** Joins the two neighbours of a log that, together, are the shortest part of it. The oldest stays, to expire. */
function joinClosest(log: number[]): void {
  let [best, shortest] = [FIRST + 2, Number.POSITIVE_INFINITY]
  for (let i = best; i + 2 < log.length; i += 2) {
    const lengthMs = (log[i + 2] as number) - (log[i - 2] as number)
    if (lengthMs < shortest) [best, shortest] = [i, lengthMs]
  }
  log[best + 3] = (log[best + 3] as number) + (log[best + 1] as number)
  log.splice(best, 2)
}
