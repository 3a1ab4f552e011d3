import type { LimitsChange } from '../figures/finding-figures.js'
import type { LoggedEvent } from '../figures/logged-event.js'

/** Denials that begin within this time after a change of limits may be its effect. */
const RECENT_MS = 3_600_000

/** What operators have changed of a limiter. */
export interface LatestChanges {
  /** The last change of the limits or the mode that everyone has and that does not allow more: it may be why clients are denied. */
  readonly change?: LimitsChange
  /** The last change that allows more, to all clients or to some: it may be why they are no longer denied. */
  readonly remedy?: LimitsChange
}

/** Returns the last recent changes of each limiter, by its name. */
export function latestChanges(
  events: readonly LoggedEvent[],
  nowMs: number,
): ReadonlyMap<string, LatestChanges> {
  const latest = new Map<string, LatestChanges>()
  for (const { kind, limiter, atMs, by, text, details = {} } of events) {
    if (limiter === undefined || nowMs - atMs >= RECENT_MS) continue
    const made = { atMs, ...(by !== undefined && { by }) }
    const before = latest.get(limiter) ?? {}
    const { limits, effect } = details
    const isOfAll = kind === 'settings' && typeof limits === 'string'
    if (kind === 'release' || (kind === 'settings' && effect === 'looser')) {
      const change = isOfAll && before.change ? { ...before.change, undoneMs: atMs } : before.change
      latest.set(limiter, { ...(change && { change }), remedy: { ...made, text } })
    } else if (isOfAll) latest.set(limiter, { ...before, change: { ...made, text: limits } })
  }
  return latest
}
