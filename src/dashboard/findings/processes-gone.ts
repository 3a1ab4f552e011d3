import type { Finding, ShownProcess } from '../figures/shown.js'
import { listText, NO_TARGETS, percentText, timeMark } from './words.js'

/** In a rolling deployment, a process may start so long before the one that it replaces has ended. */
const OVERLAP_MS = 120_000
/** Processes that started within this time are of one deployment: none of them replaces another. */
const DEPLOYMENT_MS = 300_000

/** Processes that stopped without being closed, and that no other has replaced: they crashed, hang, or are cut off. */
export function processesGone(all: readonly ShownProcess[]): Finding | undefined {
  const gone = missing(all)
  const [first] = gone
  if (first === undefined) return undefined
  const names = gone.map(({ host, pid }) => `${host} (pid ${pid})`)
  const verb = gone.length === 1 ? 'has been silent' : 'have been silent, the first of them'
  const alive = all.filter(({ state }) => state === 'alive').length
  const left = `${alive} of ${alive + gone.length} processes still ${alive === 1 ? 'reports' : 'report'}`
  return {
    kind: 'process-gone',
    level: 'warning',
    sentence: `${listText(names, 'process', 'processes')} ${verb} since ${timeMark(first.lastSeenMs)}: ${left}${shareText(gone)}`,
    sinceMs: first.lastSeenMs,
    ...NO_TARGETS,
  }
}

/** Returns the processes that are gone and not replaced, in the order in which they ended. */
function missing(all: readonly ShownProcess[]): readonly ShownProcess[] {
  const ended = all.filter(({ state }) => state !== 'alive').sort((a, b) => a.lastSeenMs - b.lastSeenMs)
  const starting = [...all].sort((a, b) => a.startedAtMs - b.startedAtMs)
  return ended.filter((process) => {
    const at = starting.findIndex((next) => canReplace(next, process))
    if (at >= 0) starting.splice(at, 1)
    return at < 0 && process.state === 'gone'
  })
}

function canReplace(next: ShownProcess, { startedAtMs, lastSeenMs }: ShownProcess): boolean {
  if (next.startedAtMs >= lastSeenMs) return true
  const isOfLaterDeployment = next.startedAtMs - startedAtMs >= DEPLOYMENT_MS
  return isOfLaterDeployment && next.startedAtMs >= lastSeenMs - OVERLAP_MS
}

/** Returns what share of the requests the only process that is missing has decided. */
function shareText([process, ...others]: readonly ShownProcess[]): string {
  const { share } = process ?? { share: 0 }
  return share > 0 && others.length === 0 ? `, and it decided ${percentText(share)} of the requests` : ''
}
