import { timeTicks, valueTicks } from './axis.js'
import { svg } from './dom.js'
import { clock, rate, withTimes } from './format.js'
import { pathOf } from './series.js'

export const HEIGHT = 240
export const LEFT = 44
export const RIGHT = 12
export const TOP = 22
export const BOTTOM = 24
export const FLOOR = HEIGHT - BOTTOM

export function gridOf({ largest, y, fromMs, toMs, xOfTime }, width) {
  const values = valueTicks(largest).flatMap((value) => [
    svg('line', { class: 'grid', x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }),
    svg('text', { class: 'tick', x: LEFT - 8, y: y(value) + 4, 'text-anchor': 'end' }, rate(value)),
  ])
  const times = timeTicks(fromMs, toMs, Math.max(2, Math.floor(width / 90))).map((ms) => {
    const x = Math.min(xOfTime(ms), width - RIGHT - 14)
    return svg('text', { class: 'tick', x, y: HEIGHT - 6, 'text-anchor': 'middle' }, clock(ms).slice(0, 5))
  })
  return [...values, ...times]
}

export function areasOf({ rates, others, x, y }) {
  const totals = rates.map((each) => each?.all)
  const low = (value) => Math.min(y(value), FLOOR - 2) // a few denials among many requests must also be seen
  const denied = rates.map((each) => each?.denied || undefined)
  const path = (name, d) => svg('path', { class: name, d })
  return [
    path('all', pathOf(totals, x, y, FLOOR)),
    path('line', pathOf(totals, x, y)),
    path('denied', pathOf(denied, x, low, FLOOR)),
    path('denied-line', pathOf(denied, x, low)),
    others &&
      path(
        'yesterday',
        pathOf(
          others.map((each) => each?.all),
          x,
          y,
        ),
      ),
  ].filter(Boolean)
}

export function shadesOf(outages = [], { fromMs, toMs, stepMs, xOfTime }) {
  return outages
    .filter((each) => each.toMs > fromMs && each.fromMs <= toMs + 2 * stepMs)
    .flatMap((each) => {
      const [start, end] = [xOfTime(each.fromMs), xOfTime(each.toMs)]
      const width = Math.max(2, end - start)
      const x = Math.min(start, end - width)
      const shade = svg('rect', { class: 'outage', x, y: TOP, width, height: FLOOR - TOP })
      const text = svg('text', { class: 'outage-label', x: x + 6, y: TOP + 14 }, 'store unavailable')
      return width > 120 ? [shade, text] : [shade]
    })
}

export function marksOf(marks = [], { fromMs, toMs, stepMs, xOfTime }) {
  return marks
    .filter(({ atMs }) => atMs >= fromMs && atMs <= toMs + 2 * stepMs)
    .flatMap(({ kind, atMs, text }) => {
      const x = xOfTime(atMs)
      const title = svg('title', {}, `${clock(atMs)} ${withTimes(text)}`)
      const flag = svg('path', { class: `mark is-${kind}`, d: `M${x - 5} 6h10v6l-5 5-5-5z` }, title)
      return [svg('line', { class: 'mark-line', x1: x, x2: x, y1: 16, y2: FLOOR }), flag]
    })
}
