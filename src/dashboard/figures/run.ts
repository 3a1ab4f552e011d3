import type { DenialRun } from './report.js'
import { RISE_SHARE, Rise } from './rise.js'

/** Denials that are further apart are not of one run. */
export const RUN_GAP_MS = 60_000

/** The last run of denials. */
export class Run {
  #sinceMs = 0
  #lastMs: number | undefined
  readonly #rise = new Rise()

  /** Counts a denial. Returns whether a run begins. A clock that steps back does not end one. */
  count(nowMs: number): boolean {
    const begins = this.#lastMs === undefined || nowMs - this.#lastMs > RUN_GAP_MS
    this.#sinceMs = begins ? nowMs : Math.min(this.#sinceMs, nowMs)
    this.#lastMs = nowMs
    this.#rise.count(nowMs)
    return begins
  }

  /** Returns the run; `undefined` if nothing has been denied yet. */
  figures(nowMs: number): DenialRun | undefined {
    if (this.#lastMs === undefined) return undefined
    const [sinceMs, lastMs] = [this.#sinceMs, this.#lastMs]
    const risenMs = Math.max(sinceMs, Math.min(lastMs, this.#rise.sinceMs() ?? sinceMs))
    return { sinceMs, lastMs, risenMs, perMinute: this.#rise.inMinute(nowMs) }
  }
}

/** Joins the runs of several processes: the last run of all of them together. */
export function joinRuns(runs: readonly DenialRun[]): DenialRun | undefined {
  const latest = [...runs].sort((a, b) => b.lastMs - a.lastMs)
  const [last] = latest
  if (last === undefined || runs.length === 1) return last
  const recent = latest.filter(({ lastMs }) => goesOn({ lastMs }, last.lastMs))
  const most = Math.max(...recent.map(({ perMinute }) => perMinute))
  const main = latest.filter(({ perMinute }) => perMinute >= RISE_SHARE * most)
  const sinceMs = startOf(latest, (run) => run.sinceMs)
  return {
    sinceMs,
    lastMs: last.lastMs,
    risenMs: Math.max(
      sinceMs,
      startOf(main, (run) => run.risenMs),
    ),
    perMinute: recent.reduce((sum, { perMinute }) => sum + perMinute, 0),
  }
}

/** Returns when runs began that overlap, or follow within a minute; the last one comes first. */
function startOf(runs: readonly DenialRun[], startOfRun: (run: DenialRun) => number): number {
  return runs.reduce(
    (startMs, run) => (run.lastMs + RUN_GAP_MS >= startMs ? Math.min(startMs, startOfRun(run)) : startMs),
    runs[0] === undefined ? 0 : startOfRun(runs[0]),
  )
}

/** Returns whether denials go on: the last one was within the last minute. */
export function goesOn({ lastMs }: Pick<DenialRun, 'lastMs'>, nowMs: number): boolean {
  return nowMs - lastMs <= RUN_GAP_MS
}
