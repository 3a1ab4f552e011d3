import { CHANGES } from './change-made.js'
import { count, moment, withTimes } from './format.js'

/** How long what has happened is worth a word. */
const RECENT_MS = 900_000

/** Returns what a page says on which nothing is wrong: that, and what happened last, if it was not long ago. */
export function calmText({ rows, events, processes, atMs }) {
  const all = rows.size === 1 ? 'The limiter is calm.' : `All ${count(rows.size)} limiters are calm.`
  const last = events.findLast(({ kind }) => kind !== 'process-seen')
  if (last === undefined || atMs - last.atMs > RECENT_MS) return all
  const { kind, text, by, limiter } = last
  if (kind === 'process-gone') return `${all} ${goneText(last, processes)}`
  const [place, what] =
    by !== undefined && CHANGES.includes(kind) ? [` in ${limiter}`, `${by} ${text}`] : ['', text]
  return `${all} Last, at ${moment(last.atMs)}${place}: ${withTimes(what)}.`
}

/** Returns what has become of a process that vanished: nothing is wrong, so another has taken its place, or it is back. */
function goneText({ details, atMs }, processes) {
  const { process: id, host, pid } = details
  const vanished = processes.find((each) => each.id === id)
  const alive = processes.filter(({ state }) => state === 'alive').length
  const missing = processes.filter(({ state }) => state === 'gone').length
  const report = `${count(alive)} of ${count(alive + missing)} processes report`
  const name = `${host} (pid ${pid})`
  if (vanished?.state === 'alive') return `${report}; ${name} reports again.`
  return `${report}; ${name} ended at ${moment(vanished?.lastSeenMs ?? atMs)} without closing.`
}
