import { durationText } from '../../../util/durations.js'
import { count, timeText } from '../../output.js'
import type { Report, ReportBar } from '../report.js'
import { html, type Markup } from './markup.js'
import { timeTicks } from './time-axis.js'

/** In pixels, from top to bottom: the name of the values, the bars, the times. */
const TOP = 30
const BASE = 200
const TIMES_AT = BASE + 20
/** Where the values stand, left of the bars, and where their name begins: in the padding of the chart. */
const VALUES_AT = -8
const NAME_AT = -52
/** A denial is seen however few they are. */
const LEAST_DENIED = 2
/** Of the width of a bar; the rest is the gap to the next. */
const FILLED = 0.92
/** A time at the right end stands before it. */
const RIGHT_END = 94

type HistogramReport = Report['histogram']

/**
 * Returns a chart of the requests over time: what a limit, by its index, allows and denies, or all requests
 * without one. Widths are percentages, so the chart fits every screen, with text of one size.
 */
export function barChart(histogram: HistogramReport, limit: number | undefined, title: string): Markup {
  const { widthMs, bars } = histogram
  const id = `chart-${limit ?? 'all'}`
  const largest = roundUp(Math.max(1, ...bars.map(({ requests }) => requests)))
  const heightOf = (requests: number) => ((BASE - TOP) * requests) / largest
  const step = 100 / bars.length
  const startMs = Date.parse(bars[0]?.at ?? '')
  const ticks = timeTicks(startMs, widthMs, bars.length)
  return html`<svg role="img" aria-labelledby="${id}-title" aria-describedby="${id}-about">
<title id="${id}-title">${title}</title><desc id="${id}-about">${describe(histogram, limit)}</desc>
<text x="${NAME_AT}" y="12">requests in each ${durationText(widthMs)}</text>
${[0, largest / 2, largest].map((value) => gridLine(value, BASE - heightOf(value)))}
${bars.map((bar, i) => barOf(bar, limit, { x: i * step, width: FILLED * step, heightOf }))}
${ticks.map(({ bar, label }, i) => timeOf(bar * step, label, i))}
<text x="100%" y="${TIMES_AT + 18}" text-anchor="end">time (UTC)</text>
</svg>`
}

interface ChartPlace {
  /** In percent. */
  readonly x: number
  readonly width: number
  readonly heightOf: (requests: number) => number
}

/** Returns a bar: what was allowed below what was denied, with its figures as a tooltip. */
function barOf(bar: ReportBar, limit: number | undefined, { x, width, heightOf }: ChartPlace): Markup {
  const denied = deniedIn(bar, limit)
  const allowed = bar.requests - denied
  const deniedHeight = denied === 0 ? 0 : Math.max(LEAST_DENIED, heightOf(denied))
  const allowedTop = BASE - heightOf(allowed)
  const rect = (kind: string, top: number, height: number) =>
    html`<rect class="${kind}" x="${fixed(x)}%" y="${fixed(top)}" width="${fixed(width)}%" height="${fixed(height)}"/>`
  const figures = limit === undefined ? 'requests' : `allowed, ${count(denied)} denied`
  return html`<g><title>${timeText(bar.at)}: ${count(allowed)} ${figures}</title>${[
    ...(allowed === 0 ? [] : [rect('allowed', allowedTop, BASE - allowedTop)]),
    ...(denied === 0 ? [] : [rect('denied', allowedTop - deniedHeight, deniedHeight)]),
  ]}</g>`
}

function gridLine(value: number, y: number): Markup {
  return html`<line class="grid" x1="0" x2="100%" y1="${fixed(y)}" y2="${fixed(y)}"/><text x="${VALUES_AT}" y="${fixed(y + 4)}" text-anchor="end">${shortCount(value)}</text>`
}

/** Returns a time below the bars. A narrow screen shows every other one. */
function timeOf(x: number, label: string, index: number): Markup {
  const anchor = x === 0 ? 'start' : x > RIGHT_END ? 'end' : 'middle'
  return html`<text class="${index % 2 === 0 ? 'time' : 'time extra'}" x="${fixed(x)}%" y="${TIMES_AT}" text-anchor="${anchor}">${label}</text>`
}

/** Returns what the chart shows, in words. */
function describe({ bars, widthMs }: HistogramReport, limit: number | undefined): string {
  const [first] = bars
  if (first === undefined) return 'The log has no requests.'
  const sum = bars.reduce((total, bar) => total + deniedIn(bar, limit), 0)
  const busiest = bars.reduce((most, bar) => (bar.requests > most.requests ? bar : most), first)
  const worst = bars.reduce((most, bar) => (deniedIn(bar, limit) > deniedIn(most, limit) ? bar : most), first)
  const most = `At most ${count(busiest.requests)} requests in ${durationText(widthMs)}, starting at ${timeText(busiest.at)}.`
  if (limit === undefined) return most
  if (sum === 0) return `${most} None were denied.`
  return `${most} ${count(sum)} were denied, at most ${count(deniedIn(worst, limit))} of them in one bar, at ${timeText(worst.at)}.`
}

function deniedIn({ denied }: ReportBar, limit: number | undefined): number {
  return limit === undefined ? 0 : (denied[limit] ?? 0)
}

/**
 * Returns the next number that is 2, 4, 6, 8 or 10 times a power of ten, so that its half is a whole number.
 */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([2, 4, 6, 8].find((factor) => factor * power >= value) ?? 10) * power
}

/** Returns a count for an axis, which has room for six characters. */
function shortCount(value: number): string {
  return value.toLocaleString('en-US', value < 100_000 ? {} : { notation: 'compact' })
}

function fixed(value: number): string {
  return value.toFixed(2)
}
