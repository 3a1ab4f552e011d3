import { el } from './dom.js'
import { clock, count } from './format.js'

/** Creates the banner about stores that are unavailable. Returns a function that shows it while there are any. */
export function outageBanner(banner) {
  const headlines = el('div', { role: 'alert' })
  const effects = el('ul')
  banner.append(headlines, effects)
  let announced = ''

  return (limiters) => {
    const affected = limiters.filter(({ store }) => store.outage !== undefined)
    const lines = headlinesOf(affected)
    banner.hidden = affected.length === 0
    effects.replaceChildren(...affected.map((limiter) => el('li', {}, effectOf(limiter))))
    if (lines.join() === announced) return // a screen reader would read it again
    announced = lines.join()
    headlines.replaceChildren(...lines.map((line) => el('h2', {}, line)))
  }
}

/** Returns a line for each store: limiters that share it have found out at different times. */
function headlinesOf(affected) {
  const sinceMs = new Map()
  for (const { store } of affected)
    sinceMs.set(store.name, Math.min(store.outage.sinceMs, sinceMs.get(store.name) ?? store.outage.sinceMs))
  return Array.from(sinceMs, ([name, ms]) => `${name} has been unavailable since ${clock(ms)}.`)
}

/** Returns what requests get now, and how many decisions were made without the store. */
function effectOf({ name, processes, store }) {
  const { allowed, denied, local, byStore } = store.outage
  const without = `${count(allowed + denied + local)} decisions without ${store.name}`
  const others = byStore > 0 ? ` and ${count(byStore)} with it` : ''
  return `${name}: ${treatmentOf(store)} ${without}${others}${placeOf(processes, store)}.`
}

function treatmentOf({ onStoreError, fallbackShare, outage }) {
  if (onStoreError === 'allow') return 'requests are allowed without a limit.'
  if (onStoreError === 'deny') return 'requests are denied.'
  const part = fallbackShare === 1 ? 'all' : `${Math.round(100 * fallbackShare)} %`
  if (onStoreError === 'local') return `local limits apply, with ${part} of each limit in each process.`
  const [allowed, denied, local] = [outage.allowed, outage.denied, outage.local].map(count)
  return `onStoreError has allowed ${allowed} requests, denied ${denied}, and applied local limits to ${local}.`
}

function placeOf(processes, { outage, problem }) {
  if (problem !== undefined) return ' in this process'
  return processes > 1 ? ` in ${count(outage.processes)} of ${count(processes)} processes` : ''
}
