import { candidateText, storeText } from './detail-text.js'
import { el, table } from './dom.js'
import { count } from './format.js'
import { clientLink, limitTable } from './limit-tables.js'

/** Returns the limits of a limiter, with how its calls to the store went. */
export function limitPanel({ limits, store }) {
  const text = storeText(store)
  return [limitTable(limits), text !== '' && el('p', { class: 'quiet' }, `Store: ${text}.`)].filter(Boolean)
}

/** Returns what the candidate of a limiter would have done, and the clients that it would deny most. */
export function candidatePanel(candidate) {
  const denied = candidate.limits.flatMap(({ name, mostDenied }) =>
    mostDenied.map((client) => [clientLink(client.identity), name, count(client.denied)]),
  )
  const list = table({
    caption: 'Clients it would have denied most',
    head: ['client', 'limit', 'requests'],
    numbers: [2],
    rows: denied.slice(0, 10),
  })
  const title = el('h2', {}, 'Candidate')
  const summary = el('p', { class: 'quiet' }, candidateText(candidate))
  return denied.length === 0 ? [title, summary] : [title, summary, list]
}
