/** The length of a tick in a log, as the documentation of `slidingLog` states it. */
export function tickMsOf(windowMs: number): number {
  return 2 ** Math.max(0, Math.ceil(Math.log2(windowMs)) - 25)
}

/** The numbers of a log. */
export interface LogNumbers {
  readonly limit: number
  readonly windowMs: number
}

/** A sliding log as a plain list of times, which it scans for each figure. */
export class PlainLog {
  /** The units that were taken and not given back, oldest first, as rounded times. */
  times: number[] = []

  /** Returns the figures of a charge, and adds its units if it is allowed. */
  charge({ limit, windowMs }: LogNumbers, nowMs: number, cost: number) {
    const roundedMs = roundedUp(nowMs, windowMs)
    const counting = () =>
      this.times.map((each) => Math.min(each, roundedMs)).filter((each) => nowMs < each + windowMs)
    /** Until at most `most` units count: until the oldest of those too many ends. */
    const untilCounting = (most: number) => (counting().at(-1 - most) as number) + windowMs - nowMs
    const used = counting().length
    const allowed = cost === 0 || used + cost <= limit
    const retryAfterMs = cost > limit ? Number.POSITIVE_INFINITY : allowed ? 0 : untilCounting(limit - cost)
    if (cost > 0) this.clampTo(roundedMs)
    if (allowed) this.times.push(...Array<number>(cost).fill(roundedMs))
    const after = counting().length
    return {
      allowed,
      remaining: Math.max(0, limit - after),
      resetAfterMs: after === 0 ? 0 : untilCounting(0),
      retryAfterMs,
      moreAfterMs: after === 0 ? 0 : untilCounting(Math.min(after, limit) - 1),
    }
  }

  refund({ windowMs }: LogNumbers, nowMs: number, cost: number, takenAtMs: number): void {
    const takenMs = roundedUp(takenAtMs, windowMs)
    if (nowMs >= takenMs + windowMs) return
    const found = this.times.filter((each) => each === takenMs).length
    this.times.splice(this.times.indexOf(takenMs), Math.min(cost, found))
  }

  reward({ windowMs }: LogNumbers, nowMs: number, units: number): void {
    if (units === 0) return
    this.clampTo(roundedUp(nowMs, windowMs))
    const counting = this.times.filter((each) => nowMs < each + windowMs).length
    this.times.splice(this.times.length - Math.min(units, counting))
  }

  /** Forgets all but the newest units, as a state that has room for no more. */
  keepNewest(units: number): void {
    this.times = units === 0 ? [] : this.times.slice(-units)
  }

  private clampTo(latestMs: number): void {
    this.times = this.times.map((each) => Math.min(each, latestMs))
  }
}

function roundedUp(ms: number, windowMs: number): number {
  const tickMs = tickMsOf(windowMs)
  return Math.ceil(ms / tickMs) * tickMs
}
