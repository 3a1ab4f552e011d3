import { actionBar } from './action-bar.js'
import { trafficChart } from './chart.js'
import { clientsPanel } from './clients.js'
import { candidatePanel, limitPanel } from './detail-panels.js'
import { el, setAttribute, setChildren, setText } from './dom.js'
import { eventList } from './events.js'
import { findingText } from './finding-text.js'
import { age, percent, rate } from './format.js'
import { icon, levelIcon } from './icons.js'
import { inForceList } from './in-force.js'
import { nearTable } from './limit-tables.js'
import { addressOf } from './route.js'
import { dayLater } from './series.js'
import { rangeSwitch } from './toolbar.js'
import { trialPanel } from './trial-panel.js'

/** The most events that are listed beside the figures; the view of events has the others. */
const MAX_EVENTS = 20

/** Creates the view of one limiter. `historyOf(name)` returns its last 24 hours, as far as they have been read. */
export function limiterView(name, { go, historyOf, actions, onDone, overviewAddress }) {
  const head = limiterHead(name, overviewAddress(), { actions, onDone })
  const chart = trafficChart(`Requests to ${name} over time`)
  const range = rangeSwitch()
  const yesterday = el('a', { class: 'toggle' }, 'Compare with yesterday')
  const clients = clientsPanel(name, { go, actions, onDone })
  const inForce = inForceList({ limiter: name, actions, onDone })
  const trial = trialPanel({ limiter: name, actions, onDone })
  const limits = el('div', { class: 'panel' })
  const near = el('div', { class: 'panel' })
  const candidate = el('div', { class: 'panel', hidden: true })
  const events = el('div', { class: 'panel' })
  const element = el(
    'article',
    { class: 'limiter', 'data-detail': name, 'aria-labelledby': 'limiter-title' },
    head.element,
    el(
      'section',
      { class: 'panel', 'aria-label': 'Traffic' },
      el('div', { class: 'toolbar' }, legend(), el('span', { class: 'grow' }), yesterday, range.element),
      chart.element,
    ),
    clients.element,
    el('section', { class: 'panel', 'aria-label': 'In force' }, el('h2', {}, 'In force'), inForce.element),
    trial.element,
    el('div', { class: 'panels' }, limits, near, candidate, events),
  )

  function show(model, route) {
    const history = historyOf(name)
    head.show(model)
    range.show(route)
    showComparison(history, route)
    chart.show(chartOf(name, model, route, history))
    inForce.show(model)
    trial.show(model)
    const detail = model.detail?.name === name ? model.detail : undefined
    clients.show(detail, model, route)
    if (detail) {
      setChildren(limits, JSON.stringify([detail.limits, detail.store]), () => limitPanel(detail))
      setChildren(near, JSON.stringify(detail.near), () => [nearTable(detail.near)])
      candidate.hidden = detail.candidate === undefined
      if (detail.candidate)
        setChildren(candidate, JSON.stringify(detail.candidate), () => candidatePanel(detail.candidate))
    }
    const own = eventsOf(name, model, history).slice(-MAX_EVENTS)
    const { canChange } = model.session
    setChildren(events, `${canChange}/${own.map(({ id }) => id)}`, () =>
      eventPanel(own, canChange && { actions, onDone }),
    )
  }

  /** Offers yesterday only if something is known of it. */
  function showComparison(history, route) {
    yesterday.hidden = history?.yesterday === undefined
    setAttribute(yesterday, 'href', addressOf({ ...route, yesterday: !route.yesterday }))
    setAttribute(yesterday, 'aria-current', route.yesterday ? 'true' : undefined)
  }

  return { element, show, search: clients.search }
}

function limiterHead(name, backTo, context) {
  const bar = actionBar(context)
  const edit = el('a', { class: 'button', hidden: true, href: addressOf({ view: 'edit', name }) }, 'Settings')
  const level = levelIcon()
  const sentence = el('span', {})
  const since = el('span', { class: 'since' })
  const finding = el('p', { class: 'finding' }, level.drawing, el('span', {}, sentence, ' ', since))
  const mode = el('span', { class: 'badge' })
  const back = el('a', { class: 'back', href: backTo }, icon('back'), 'Overview')
  const figures = Object.fromEntries(
    ['allowed per second', 'denied per second', 'denied', 'store'].map((term) => [term, el('dd', {})]),
  )
  const list = el(
    'dl',
    { class: 'figures' },
    ...Object.entries(figures).map(([term, value]) => el('div', {}, el('dt', {}, term), value)),
  )

  function show({ rows, outages, atMs, isKnown, session }) {
    const row = rows.get(name)
    bar.show(row, session)
    edit.hidden = !row?.hasSettings
    if (row === undefined) return setText(sentence, isKnown ? 'There is no limiter with this name.' : '')
    level.show(row.finding.level)
    finding.className = `finding is-${row.finding.level}`
    setText(sentence, findingText(row, outages))
    const { sinceMs } = row.finding
    setText(since, sinceMs === undefined ? '' : `for ${age(atMs - sinceMs)}`)
    setText(mode, row.mode === 'report' ? 'report mode: no request is denied' : 'enforcing')
    mode.classList.toggle('is-report', row.mode === 'report')
    setText(figures['allowed per second'], rate(row.allowedPerSecond))
    setText(figures['denied per second'], rate(row.deniedPerSecond))
    setText(figures.denied, percent(row.deniedShare))
    setText(figures.store, `${row.store}, ${row.storeState === 'closed' ? 'up' : 'unavailable'}`)
    figures.store.classList.toggle('is-bad', row.storeState !== 'closed')
    figures['denied per second'].classList.toggle('is-bad', row.deniedPerSecond > 0)
  }

  const title = el('h1', { id: 'limiter-title', tabindex: '-1' }, name)
  const element = el(
    'header',
    { class: 'head' },
    back,
    el('div', { class: 'name' }, title, mode, el('span', { class: 'grow' }), edit),
    finding,
    bar.element,
    list,
  )
  return { element, show }
}

function legend() {
  const entry = (kind, text) => el('span', { class: `key is-${kind}` }, text)
  return el(
    'p',
    { class: 'legend', 'aria-hidden': 'true' },
    entry('allowed', 'allowed'),
    entry('denied', 'denied'),
  )
}

/** Returns what the chart shows. An outage that lasts, and the latest events, are known before the history is. */
function chartOf(name, model, route, history) {
  const series = route.range === '24h' ? history?.series : model.series.get(name)
  if (series === undefined) return undefined
  const outages = model.outages
    .filter(({ effects }) => effects.some(({ limiter }) => limiter === name))
    .map(({ sinceMs }) => ({ fromMs: sinceMs, toMs: model.atMs + series.stepMs }))
  const isOver = ({ toMs }) => outages.every(({ fromMs }) => toMs <= fromMs)
  const past = (history?.outages ?? []).filter(isOver) // the history may also have the outage that lasts
  return {
    series,
    yesterday: route.yesterday && history?.yesterday ? dayLater(history.yesterday) : undefined,
    outages: [...past, ...outages],
    marks: eventsOf(name, model, history),
  }
}

/** Returns the events of a limiter and those of all, each once. */
function eventsOf(name, { events }, history) {
  const ofLimiter = events.filter(({ limiter }) => limiter === undefined || limiter === name)
  const all = [...(history?.marks ?? []), ...ofLimiter].map((event) => [event.id, event])
  return Array.from(new Map(all).values()).sort((a, b) => a.atMs - b.atMs)
}

function eventPanel(events, undo) {
  const title = el('h2', {}, 'Events')
  if (events.length === 0) return [title, el('p', { class: 'quiet' }, 'Nothing has happened yet.')]
  return [title, eventList(events.toReversed(), undo)]
}
