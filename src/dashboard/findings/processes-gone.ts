import type { Finding, ShownProcess } from '../figures/shown.js'
import { listText, NO_TARGETS, percentText, timeMark } from './words.js'

/**
 * Processes that stopped to report without being closed and were not replaced. Whether they died, hang or are cut off
 * from their store looks the same from here: nothing comes from them.
 */
export function processesGone(all: readonly ShownProcess[], stores: readonly string[]): Finding | undefined {
  const gone = all.filter(({ state }) => state === 'gone').sort((a, b) => a.lastSeenMs - b.lastSeenMs)
  const [first] = gone
  if (first === undefined) return undefined
  const names = gone.map(({ host, pid }) => `${host} (pid ${pid})`)
  const store = stores.length === 1 ? stores[0] : `${gone.length === 1 ? 'its' : 'their'} store`
  const died = `${gone.length === 1 ? 'has' : 'have'} died, or cannot reach ${store}`
  const silent = gone.length === 1 ? 'silent' : 'the first of them silent'
  const alive = all.filter(({ state }) => state === 'alive').length
  const left = `${alive} of ${alive + gone.length} processes still ${alive === 1 ? 'reports' : 'report'}`
  return {
    kind: 'process-gone',
    level: 'warning',
    sentence: `${listText(names, 'process', 'processes')} ${died}: ${silent} since ${timeMark(first.lastSeenMs)}${shareText(gone)}; ${left}`,
    sinceMs: first.lastSeenMs,
    ...NO_TARGETS,
  }
}

/** Returns what share of the requests the only process that is missing has decided. */
function shareText([process, ...others]: readonly ShownProcess[]): string {
  const { share } = process ?? { share: 0 }
  return share > 0 && others.length === 0 ? `, when it decided ${percentText(share)} of the requests` : ''
}
