import type { Series } from '../figures/shown.js'

/**
 * Remembers when each step of a series became what it is, so that a page gets only the steps that it does
 * not have. A page may have missed several: it reads too slowly, or a process has reported late.
 */
export class SeriesChanges {
  #series: Series | undefined
  #changedAt: number[] = []

  /** Takes the series as it is at a tick. */
  advance(series: Series, tick: number): void {
    const before = this.#series
    if (series === before) return
    const shift =
      before === undefined || before.stepMs !== series.stepMs
        ? Number.NaN
        : (series.fromMs - before.fromMs) / series.stepMs
    const ticks = this.#changedAt
    this.#changedAt = series.allowed.map((allowed, i) => {
      const isSame = before?.allowed[i + shift] === allowed && before.denied[i + shift] === series.denied[i]
      return (isSame ? ticks[i + shift] : undefined) ?? tick
    })
    if (outagesOf(series) !== outagesOf(before)) this.#changedAt[this.#changedAt.length - 1] = tick
    this.#series = series
  }

  /** Returns the series from the first step on that has changed after a tick; `undefined` if none has. */
  since(tick: number): Series | undefined {
    const first = this.#changedAt.findIndex((changedAt) => changedAt > tick)
    if (first < 0 || this.#series === undefined) return undefined
    const { stepMs, fromMs, allowed, denied, outages } = this.#series
    return {
      stepMs,
      fromMs: fromMs + first * stepMs,
      allowed: allowed.slice(first),
      denied: denied.slice(first),
      ...(outages && { outages }),
    }
  }
}

/** Outages are sent with any step: a changed one is sent with the last. */
function outagesOf(series: Series | undefined): string {
  return JSON.stringify(series?.outages ?? [])
}
