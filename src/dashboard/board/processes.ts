import type { LimiterReport } from '../figures/report.js'
import type { ShownProcess } from '../figures/shown.js'
import { lastMinute } from '../figures/traffic.js'
import type { Member } from '../shared/fleet.js'
import { replacedIds } from '../shared/replaced.js'
import type { ProcessIdentity } from '../shared/this-process.js'

/** A process, with what all its dashboards report. */
interface Reporting {
  readonly process: ProcessIdentity
  readonly state: Member['state']
  readonly lastSeenMs: number
  readonly decisions: number
}

/**
 * Returns the processes, this one first, then by host and pid. Groups on several clients of one server read the same
 * members, and one another: each counts once.
 */
export function shownProcesses(
  own: ProcessIdentity,
  ownReports: readonly LimiterReport[],
  members: readonly Member[],
  nowMs: number,
  ownGroups: readonly number[] = [],
): readonly ShownProcess[] {
  const all = new Map<string, Reporting>()
  all.set(own.id, { process: own, state: 'alive', lastSeenMs: nowMs, decisions: decisionsOf(ownReports) })
  const counted = new Set(ownGroups.map((dashboard) => `${own.id}/${dashboard}`))
  for (const member of members) {
    const { id, dashboard } = member.header
    if (counted.has(`${id}/${dashboard}`)) continue
    counted.add(`${id}/${dashboard}`)
    all.set(id, addMember(all.get(id), member))
  }
  const reporting = [...all.values()]
  const living = reporting.reduce((sum, { state, decisions }) => sum + (state === 'alive' ? decisions : 0), 0)
  const replaced = replacedIds(reporting.map(({ process, ...life }) => ({ ...process, ...life })))
  return reporting
    .map((each) => shownOf(each, living, each.process.id === own.id))
    .map((shown) => (replaced.has(shown.id) ? { ...shown, state: 'replaced' as const } : shown))
    .sort(inOrder)
}

function addMember(
  before: Reporting | undefined,
  { header, state, lastSeenMs, reports = [] }: Member,
): Reporting {
  const { id, host, pid, version, startedAtMs } = header
  return {
    process: { id, host, pid, version, startedAtMs },
    state: before === undefined || before.state === state ? state : 'alive',
    lastSeenMs: Math.max(lastSeenMs, before?.lastSeenMs ?? 0),
    decisions: decisionsOf(reports) + (before?.decisions ?? 0),
  }
}

function shownOf(
  { process, state, lastSeenMs, decisions }: Reporting,
  living: number,
  isThis: boolean,
): ShownProcess {
  const { id, host, pid, version, startedAtMs } = process
  const all = state === 'alive' ? living : living + decisions
  const share = all === 0 ? 0 : decisions / all
  return { id, host, pid, version, startedAtMs, lastSeenMs, state, share, isThis }
}

function decisionsOf(reports: readonly LimiterReport[]): number {
  return reports.reduce((sum, { traffic }) => {
    const { allowed, denied } = lastMinute(traffic)
    return sum + allowed + denied
  }, 0)
}

function inOrder(a: ShownProcess, b: ShownProcess): number {
  if (a.isThis !== b.isThis) return a.isThis ? -1 : 1
  return a.host.localeCompare(b.host) || a.pid - b.pid || a.startedAtMs - b.startedAtMs
}
