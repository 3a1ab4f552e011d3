import { count, counted, moment, spelled } from './format.js'

const MAX_NAMED = 5

/** Returns what a change would have done to the clients of a limit, in sentences. */
export function previewText({
  limitName,
  clients,
  fromMs,
  toMs,
  denied,
  wouldDeny,
  newlyDenied,
  problem,
  ...counts
}) {
  if (problem !== undefined) return `${limitName}: ${problem}`
  const since = `from ${moment(fromMs)} to ${moment(toMs)}`
  const { newlyDeniedCount, noLongerDeniedCount } = counts
  const head = `${limitName}: ${count(wouldDeny)} of ${counted(clients, 'client')} would have been denied ${since}, ${count(denied)} were.`
  const named = newlyDenied
    .slice(0, MAX_NAMED)
    .map(({ identity, peak }) => `${spelled(identity)} (asked for ${count(peak)})`)
  const rest = newlyDeniedCount - named.length
  const others = rest > 0 ? ` and ${count(rest)} more` : ''
  const newly = newlyDeniedCount > 0 ? ` Newly denied: ${named.join(', ')}${others}.` : ''
  const freed = noLongerDeniedCount > 0 ? ` No longer denied: ${counted(noLongerDeniedCount, 'client')}.` : ''
  return head + newly + freed
}
