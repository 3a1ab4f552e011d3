import { el, setText } from './dom.js'
import { age, clock, count, counted } from './format.js'
import { icon } from './icons.js'

/** The most limiters that are named; more are counted. */
const MAX_NAMES = 8

/** Creates the banner about stores that are unavailable. Returns a function that shows it while there are any. */
export function outageBanner(banner) {
  const headlines = el('div', { role: 'alert' })
  const ages = el('p', { class: 'outage-age' })
  const effects = el('ul')
  banner.append(icon('critical'), headlines, ages, effects)
  let announced = ''
  let listed = ''

  return ({ outages, atMs }) => {
    banner.hidden = outages.length === 0
    const lines = outages.map(headlineOf)
    setText(ages, outages.map((outage) => lengthOf(outage, atMs, outages.length)).join(' '))
    const shown = outages.flatMap(effectsOf)
    if (shown.join() !== listed) effects.replaceChildren(...shown.map((text) => el('li', {}, text)))
    listed = shown.join()
    if (lines.join() === announced) return // a screen reader would read it again
    announced = lines.join()
    headlines.replaceChildren(...lines.map((line) => el('h2', {}, line)))
  }
}

function headlineOf({ store, servers, sinceMs }) {
  const where = servers.length === 0 ? '' : ` on ${servers.join(', ')}`
  return `${store} has been unavailable${where} since ${clock(sinceMs)}.`
}

function lengthOf({ store, sinceMs, decisions, processes }, nowMs, outages) {
  const name = outages > 1 ? `${store}: ` : ''
  const by = processes > 1 ? ` by ${count(processes)} processes` : ''
  return `${name}${age(nowMs - sinceMs)} so far, ${counted(decisions, 'decision')} without it${by}.`
}

/** Returns what requests get now, with the limiters that it is about. */
function effectsOf({ effects }) {
  const limiters = new Map()
  for (const { limiter, text } of effects) limiters.set(text, [...(limiters.get(text) ?? []), limiter])
  return Array.from(limiters, ([text, names]) => {
    const rest = names.length - MAX_NAMES
    const listed = names.slice(0, MAX_NAMES).join(', ')
    return `${listed}${rest > 0 ? ` and ${count(rest)} more` : ''}: ${text.replace(/\.?$/, '.')}`
  })
}
