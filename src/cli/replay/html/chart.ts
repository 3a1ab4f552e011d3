import { count, timeText } from '../../output.js'
import type { ReportBar } from '../report.js'
import { html, type Markup } from './markup.js'

const WIDTH = 880
const HEIGHT = 240
/** Where the bars are, within the axes. */
const LEFT = 56
const RIGHT = 8
const TOP = 12
const BOTTOM = 28
const GAP = 2
/** About so many times are written below the bars. */
const TIMES = 4

/** Returns a chart of what a limit allows and denies over time. */
export function barChart(bars: readonly ReportBar[], limit: number, title: string): Markup {
  const largest = roundUp(Math.max(1, ...bars.map(({ requests }) => requests)))
  const step = (WIDTH - LEFT - RIGHT) / bars.length
  const yOf = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / largest)
  const every = Math.max(1, Math.ceil(bars.length / TIMES))
  const isDays = bars.length > 1 && spanMs(bars) > 2 * 86_400_000
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${title}">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">
<title>${title}</title>
${[0, largest / 2, largest].map((value) => gridLine(value, yOf(value)))}
${bars.map((bar, i) => barOf(bar, limit, { x: LEFT + i * step, width: Math.max(1, step - GAP), yOf }))}
${bars.flatMap(({ at }, i) => {
  if (i % every > 0) return []
  return [html`<text x="${fixed(LEFT + i * step)}" y="${HEIGHT - 8}">${shortTime(at, isDays)}</text>`]
})}
</svg></div>`
}

interface Place {
  readonly x: number
  readonly width: number
  readonly yOf: (value: number) => number
}

/** Returns a bar: what was allowed below what was denied, with its figures as a tooltip. */
function barOf({ at, requests, denied }: ReportBar, limit: number, { x, width, yOf }: Place): Markup {
  const deniedHere = denied[limit] ?? 0
  const allowed = requests - deniedHere
  const rect = (kind: string, from: number, to: number) =>
    html`<rect class="${kind}" x="${fixed(x)}" y="${fixed(yOf(to))}" width="${fixed(width)}" height="${fixed(yOf(from) - yOf(to))}"/>`
  const tooltip = `${timeText(at)}: ${count(allowed)} allowed, ${count(deniedHere)} denied`
  return html`<g><title>${tooltip}</title>${rect('allowed', 0, allowed)}${rect('denied', allowed, requests)}</g>`
}

function gridLine(value: number, y: number): Markup {
  return html`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${fixed(y)}" y2="${fixed(y)}"/><text x="${LEFT - 6}" y="${fixed(y + 4)}" text-anchor="end">${count(value)}</text>`
}

/** Returns the next number that is 2, 4, 6, 8 or 10 times a power of ten, so that its half is a whole number. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([2, 4, 6, 8, 10].find((factor) => factor * power >= value) as number) * power
}

function spanMs(bars: readonly ReportBar[]): number {
  return Date.parse((bars.at(-1) as ReportBar).at) - Date.parse((bars[0] as ReportBar).at)
}

/** Returns a time in UTC: the date over days, else the time of day. */
function shortTime(iso: string, isDays: boolean): string {
  return isDays ? iso.slice(0, 10) : `${iso.slice(11, iso.endsWith(':00.000Z') ? 16 : 19)}Z`
}

function fixed(value: number): string {
  return value.toFixed(1)
}
