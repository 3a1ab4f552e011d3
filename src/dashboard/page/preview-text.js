import { count, counted, moment, spelled } from './format.js'

const MAX_NAMED = 5

/** Returns what a change would have done, in a few sentences for each limit. */
export function previewTexts({ limits, candidate = [] }) {
  return [
    ...limits.map(previewText),
    ...candidate.map((each) => `As a candidate, which denies nothing: ${previewText(each)}`),
  ]
}

/** Returns what a change would have done to the clients of a limit, in sentences. */
export function previewText({ limitName, clients, fromMs, toMs, denied, wouldDeny, problem, ...more }) {
  if (problem !== undefined) return `${limitName}: ${problem}`
  const {
    newlyDenied,
    newlyDeniedCount,
    noLongerDenied = [],
    noLongerDeniedCount,
    isBound,
    notes = [],
  } = more
  const most = isBound ? 'at most ' : ''
  const since = `from ${moment(fromMs)} to ${moment(toMs)}`
  return [
    `${limitName}: ${most}${count(wouldDeny)} of ${counted(clients, 'client')} would have been denied ${since}; ${count(denied)} ${denied === 1 ? 'was' : 'were'}.`,
    namesText('Newly denied', newlyDenied, newlyDeniedCount, most),
    namesText('No longer denied', noLongerDenied, noLongerDeniedCount, isBound ? 'at least ' : ''),
    ...notes,
  ]
    .filter(Boolean)
    .join(' ')
}

/** Returns who they are, the largest first, with what each asked for; how many where they are not named. */
function namesText(title, clients, all, bound) {
  if (all === 0) return ''
  const named = clients
    .slice(0, MAX_NAMED)
    .map(({ identity, peak }) => `${spelled(identity)} (asked for ${count(peak)})`)
  if (named.length === 0) return `${title}: ${bound}${counted(all, 'client')}.`
  const rest = all - named.length
  return `${title}: ${named.join(', ')}${rest > 0 ? ` and ${bound}${count(rest)} more` : ''}.`
}
