import type { Finding, ShownProcess } from '../figures/shown.js'
import { listText, NO_TARGETS, percentText, timeMark } from './words.js'

/** Processes that stopped without being closed and were not replaced: they crashed, hang, or are cut off. */
export function processesGone(all: readonly ShownProcess[]): Finding | undefined {
  const gone = all.filter(({ state }) => state === 'gone').sort((a, b) => a.lastSeenMs - b.lastSeenMs)
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

/** Returns what share of the requests the only process that is missing has decided. */
function shareText([process, ...others]: readonly ShownProcess[]): string {
  const { share } = process ?? { share: 0 }
  return share > 0 && others.length === 0 ? `, and it decided ${percentText(share)} of the requests` : ''
}
