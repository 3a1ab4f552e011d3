import type { LimitsChange } from '../figures/finding-figures.js'
import type { LoggedEvent } from '../figures/logged-event.js'

/** Denials that begin within this time after a change of limits may be its effect. */
const RECENT_MS = 3_600_000

/** Returns the last recent change of the limits or the mode of each limiter, by its name. */
export function latestChanges(
  events: readonly LoggedEvent[],
  nowMs: number,
): ReadonlyMap<string, LimitsChange> {
  const latest = new Map<string, LimitsChange>()
  for (const { kind, limiter, atMs, by, details } of events) {
    const limits = details?.limits
    if (kind !== 'settings' || limiter === undefined || typeof limits !== 'string') continue
    if (nowMs - atMs < RECENT_MS) latest.set(limiter, { atMs, text: limits, ...(by !== undefined && { by }) })
  }
  return latest
}
