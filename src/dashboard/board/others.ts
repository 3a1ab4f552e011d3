import type { LimiterReport } from '../figures/report.js'
import type { Member } from '../shared/fleet.js'
import type { Group } from '../shared/group.js'
import { processName } from '../shared/process-events.js'
import { thisProcess } from '../shared/this-process.js'

/** A process that has not reported for this long since an outage began may not have said so yet. */
const TOLD_MS = 2500

/** What another process reports of a limiter. */
export interface OtherReport {
  readonly id: string
  readonly name: string
  readonly state: Member['state']
  readonly report: LimiterReport
}

/**
 * Returns what other processes report, by limiter. Two dashboards of one process count the same, so one of them
 * counts.
 */
export function reportsByName(members: readonly Member[]): ReadonlyMap<string, readonly OtherReport[]> {
  const byName = new Map<string, OtherReport[]>()
  for (const { header, state, reports = [] } of members) {
    const { id } = header
    if (id === thisProcess().id) continue
    for (const report of reports) {
      const others = byName.get(report.name) ?? []
      byName.set(report.name, others)
      if (others.every((other) => other.id !== id))
        others.push({ id, name: processName(header), state, report })
    }
  }
  return byName
}

/**
 * Returns how many processes report, this one included; `undefined` if the others cannot be read, or if one of them has
 * not yet been able to say whether it is affected by an outage since `sinceMs`.
 */
export function reportingIn(group: Group, sinceMs: number): number | undefined {
  if (group.problem() !== undefined) return undefined
  const alive = group.members().filter(({ state }) => state === 'alive')
  const haveTold = alive.every(({ header, lastSeenMs }) => {
    return Math.min(header.atMs, lastSeenMs) >= sinceMs + TOLD_MS
  })
  return haveTold ? new Set([thisProcess().id, ...alive.map(({ header }) => header.id)]).size : undefined
}
