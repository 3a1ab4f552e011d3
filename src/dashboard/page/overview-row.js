import { actionBar } from './action-bar.js'
import { el, setAttribute, setText } from './dom.js'
import { findingText, whereText } from './finding-text.js'
import { percent, rate, sinceText } from './format.js'
import { icon, levelIcon } from './icons.js'
import { addressOf } from './route.js'
import { sparkline } from './sparkline.js'

/** Creates the row of a limiter, with what an operator can do about it unless a headline above offers it. */
export function overviewRow(name, context) {
  const level = levelIcon()
  const levelName = el('span', { class: 'visually-hidden' })
  const link = el('a', { class: 'name', 'data-move': true }, name)
  const mode = el('span', { class: 'badge', hidden: true }, 'report mode')
  const since = el('span', { class: 'since' })
  const sentence = el('span', { class: 'sentence' })
  const spark = sparkline()
  const bar = actionBar(context)
  const [allowed, denied, share] = ['allowed per second', 'denied per second', 'denied'].map(numberCell)
  const element = el(
    'li',
    { class: 'row', 'data-limiter': name },
    level.drawing,
    el('span', { class: 'title' }, levelName, link, mode, since),
    sentence,
    spark.drawing,
    allowed.cell,
    denied.cell,
    share.cell,
    icon('chevron'),
    bar.element,
  )
  denied.cell.classList.add('is-denied')
  let drawn
  let drawnOutageMs
  let row

  function show(next) {
    row = next
    const { finding } = row
    element.classList.toggle('is-critical', finding.level === 'critical')
    element.classList.toggle('is-warning', finding.level === 'warning')
    element.classList.toggle('has-denials', finding.level !== 'calm' && row.deniedPerSecond > 0)
    level.show(finding.level)
    setText(levelName, `${finding.level}: `)
    mode.hidden = row.mode !== 'report'
    allowed.show(rate(row.allowedPerSecond))
    denied.show(rate(row.deniedPerSecond))
    setAttribute(denied.cell, 'title', blockedText(row))
    share.show(percent(row.deniedShare))
  }

  /** Shows what is not in the row of a frame: the traffic, and what depends on the route and the time. */
  element.showMore = (series, route, { atMs, outages, session }, hasHeadline) => {
    const outage = outages.find(({ effects }) => effects.some(({ limiter }) => limiter === name))
    if (series !== drawn || outage?.sinceMs !== drawnOutageMs) spark.show(series, outage?.sinceMs)
    drawn = series
    drawnOutageMs = outage?.sinceMs
    setAttribute(link, 'href', addressOf({ view: 'limiter', name, range: route.range }))
    setAttribute(link, 'aria-current', route.view === 'limiter' && route.name === name ? 'page' : undefined)
    const isHeadline = hasHeadline && route.view !== 'limiter' // beside a limiter, there are no headlines
    bar.show(isHeadline ? undefined : row, session)
    element.classList.toggle('is-brief', isHeadline || row.finding.kind === 'store-outage')
    const words = isHeadline ? whereText(row.finding) : findingText(row, outages)
    setText(sentence, words)
    setAttribute(sentence, 'title', words)
    setText(since, sinceText(row.finding.sinceMs, atMs))
  }

  return { element, show }
}

/** Returns how many requests are denied without asking a limit, which are not counted in the row. */
function blockedText({ blockedPerSecond }) {
  return blockedPerSecond > 0 ? `and ${rate(blockedPerSecond)} blocked requests a second` : undefined
}

function numberCell(unit) {
  const text = el('span', {})
  const cell = el('span', { class: 'number' }, text, el('span', { class: 'unit' }, ` ${unit}`))
  return { cell, show: (shown) => setText(text, shown) }
}
