import type { ReplaySettings } from './arguments.js'
import { Histogram } from './histogram.js'
import { LimitReplay } from './limit-replay.js'
import { WindowCounts } from './window-counts.js'

/**
 * Decides requests in the order of their times. The time of a request is the clock. It never goes back, like
 * that of the memory store: a request that comes too late to be sorted is decided at the newest time before it.
 */
export class Decisions {
  requests = 0
  /** Requests that came too late to be sorted. */
  late = 0
  firstMs = Number.NaN
  /** When the last request was decided. */
  lastMs = Number.NaN
  readonly histogram: Histogram
  readonly limits: readonly LimitReplay[]
  readonly windows: WindowCounts | undefined

  constructor({ policies, suggest }: Pick<ReplaySettings, 'policies' | 'suggest'>) {
    this.limits = policies.map((policy) => new LimitReplay(policy))
    this.histogram = new Histogram(this.limits.length)
    this.windows = suggest && new WindowCounts(suggest.windowMs, suggest.startsAt)
  }

  /** Returns whether every limit allows a request of a client, by its number. */
  decide(timeMs: number, client: number): boolean {
    const isLate = timeMs < this.lastMs
    const nowMs = isLate ? this.lastMs : timeMs
    if (isLate) this.late++
    if (this.requests === 0) this.firstMs = nowMs
    this.lastMs = nowMs
    this.requests++
    this.windows?.add(client, nowMs)
    this.histogram.add(nowMs)
    let isAllowed = true
    let index = 0
    for (const limit of this.limits) {
      if (!limit.decide(client, nowMs)) {
        isAllowed = false
        this.histogram.addDenial(index)
      }
      index++
    }
    return isAllowed
  }
}
