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
    const roundedMs = Math.ceil(nowMs)
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
    const takenMs = Math.ceil(takenAtMs)
    if (nowMs >= takenMs + windowMs) return
    const found = this.times.filter((each) => each === takenMs).length
    this.times.splice(this.times.indexOf(takenMs), Math.min(cost, found))
  }

  reward({ windowMs }: LogNumbers, nowMs: number, units: number): void {
    if (units === 0) return
    this.clampTo(Math.ceil(nowMs))
    const counting = this.times.filter((each) => nowMs < each + windowMs).length
    this.times.splice(this.times.length - Math.min(units, counting))
  }

  /** Forgets all but the newest units, as a state from which a charge has dropped those that had ended. */
  keepNewest(units: number): void {
    this.times = units === 0 ? [] : this.times.slice(-units)
  }

  private clampTo(latestMs: number): void {
    this.times = this.times.map((each) => Math.min(each, latestMs))
  }
}
