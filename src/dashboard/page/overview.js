import { calmText } from './calm-text.js'
import { el, setAttribute, setChildren, setText } from './dom.js'
import { rate } from './format.js'
import { headlineList, headlinesOf, MAX_HEADLINES } from './headlines.js'
import { holdOf } from './hold.js'
import { levelIcon } from './icons.js'
import { keyedList } from './keyed-list.js'
import { filtered, levelCounts, worstFirst } from './order.js'
import { overviewRow } from './overview-row.js'
import { addressOf } from './route.js'
import { rangeSwitch, searchField } from './toolbar.js'

/** Creates the view of all limiters. `go` changes the route; `histories()` returns the last 24 hours, by name. */
export function overview({ go, histories, actions, onDone }) {
  const chips = ['critical', 'warning', 'calm'].map((level) => levelChip(level))
  const [allowed, denied] = ['allowed/s', 'denied/s'].map(total)
  const search = searchField('Filter limiters', (text) => go({ search: text }))
  const range = rangeSwitch()
  const order = el('span', { class: 'order' })
  const list = el('ul', { class: 'rows', 'aria-label': 'Limiters' })
  const nothing = el('p', { class: 'nothing', hidden: true })
  const headlines = headlineList('What is wrong', { actions, onDone })
  const calm = el('p', { class: 'all-calm' })
  const isHeld = holdOf(list)
  const showRows = keyedList(list, (name) => overviewRow(name, { actions, onDone }))
  let filter = ''
  const element = el(
    'section',
    { class: 'overview', 'aria-label': 'Overview' },
    el('h1', { class: 'visually-hidden', tabindex: '-1' }, 'Overview'),
    headlines.element,
    calm,
    el(
      'div',
      { class: 'toolbar' },
      el('div', { class: 'chips', role: 'group', 'aria-label': 'States' }, ...chips.map((chip) => chip.link)),
      el('p', { class: 'totals' }, allowed, denied),
      el('span', { class: 'grow' }),
      search.element,
      range.element,
    ),
    el('div', { class: 'columns', 'aria-hidden': 'true' }, order, ...headings(range.title)),
    list,
    nothing,
  )

  function show(model, route) {
    const rows = Array.from(model.rows.values())
    const counts = levelCounts(rows, model.headlines)
    for (const chip of chips) chip.show(counts, route)
    setText(allowed.firstChild, rate(rows.reduce((sum, row) => sum + row.allowedPerSecond, 0)))
    setText(denied.firstChild, rate(rows.reduce((sum, row) => sum + row.deniedPerSecond, 0)))
    search.show(route.search)
    range.show(route)
    const wanted = `${route.state}/${route.search}`
    const held = isHeld() && wanted === filter // a filter applies at once
    filter = wanted
    const wrong = headlinesOf(model)
    headlines.show(wrong.slice(0, MAX_HEADLINES), model, held)
    calm.hidden = wrong.length > 0 || !model.isKnown
    setText(calm, calmText(model))
    setText(order, held ? 'Order kept while you read' : 'Worst first')
    const series = route.range === '24h' ? histories() : model.series
    const shown = worstFirst(filtered(rows, route))
    showRows(
      shown.map((row) => [row.name, row]),
      held,
    )
    for (const item of list.children) {
      const { limiter } = item.dataset
      item.showMore(series?.get(limiter), route, model, headlines.has(limiter))
    }
    nothing.hidden = shown.length > 0
    setChildren(nothing, `${model.isKnown}/${wanted}`, () => nothingTexts(model, route))
  }

  return { element, show, search: search.input }
}

function total(unit) {
  return el('span', {}, el('b', {}), ` ${unit}`)
}

function headings(title) {
  return [title, el('span', {}, 'allowed/s'), el('span', {}, 'denied/s'), el('span', {}, '% denied')]
}

function nothingTexts({ isKnown }, route) {
  if (!isKnown) return ['Waiting for the first figures…']
  return [
    route.state !== '' && route.search === '' ? `No limiter is ${route.state}. ` : 'No limiter matches. ',
    el('a', { href: addressOf({ ...route, state: '', search: '' }) }, 'Show all'),
  ]
}

/** Creates a link that shows the limiters of one level alone, or all again. */
function levelChip(level) {
  const { drawing, show: showIcon } = levelIcon()
  showIcon(level)
  const number = el('b', {})
  const link = el('a', { class: `chip is-${level}` }, drawing, number, ` ${level}`)
  return {
    link,
    show(counts, route) {
      const isOn = route.state === level
      setText(number, String(counts[level]))
      link.classList.toggle('is-none', counts[level] === 0)
      setAttribute(link, 'href', addressOf({ ...route, state: isOn ? '' : level }))
      setAttribute(link, 'aria-current', isOn ? 'true' : undefined)
    },
  }
}
