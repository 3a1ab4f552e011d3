import { ADAPTIVE, type Look } from './look.js'
import { axisOf, svgOf } from './svg.js'
import { whole } from './table.js'

const TITLE_OF_AXIS = { nameLocation: 'middle', nameGap: 30 } as const

export interface Bar {
  /** Whose figure it is. One that begins with "headgate" is drawn in our color. */
  readonly label: string
  readonly value: number
  /** What was measured. Neighbors in one group stand under its name. */
  readonly group?: string
}

export interface BarPlot {
  /** Up to 80 characters or so. */
  readonly title: string
  /** What a value is, and which is better: "decisions a second, more is better". */
  readonly unit: string
  readonly bars: readonly Bar[]
}

export interface Series {
  /** Whose figures they are. One that begins with "headgate" is drawn in a color of ours. */
  readonly name: string
  /** In rising order of x, which is above 0. A series may end before the others do. */
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface LinePlot {
  /** Up to 80 characters or so. */
  readonly title: string
  readonly xLabel: string
  /** What y is, with its unit, and which is better: "ns per decision, less is better". */
  readonly yLabel: string
  readonly series: readonly Series[]
}

/**
 * The text of an SVG: bars from top to bottom, each with its value at its end. A value that is no number
 * rejects.
 */
export async function barPlot({ title, unit, bars }: BarPlot, look: Look = ADAPTIVE): Promise<string> {
  const axis = axisOf(look)
  const rows = bars.flatMap((bar, i) => {
    const isFirst = bar.group !== undefined && bar.group !== bars[i - 1]?.group
    return isFirst ? [headOf(bar.group), rowOf(bar, look)] : [rowOf(bar, look)]
  })
  const words = bars.map(({ label, value, group }) => `${group ? `${group}, ` : ''}${label} ${figure(value)}`)
  return svgOf({
    title,
    description: `${unit}: ${words.join('; ')}`,
    height: 110 + 26 * rows.length,
    look,
    option: {
      grid: { left: 16, right: 84, top: 52, bottom: 44, containLabel: true },
      xAxis: { ...axis, ...TITLE_OF_AXIS, type: 'value', name: unit },
      yAxis: {
        ...axis,
        type: 'category',
        inverse: true,
        axisTick: { show: false },
        axisLabel: { color: look.text, interval: 0 },
        data: rows.map(({ name }) => name),
      },
      series: { type: 'bar', silent: true, barWidth: 17, data: rows.map(({ bar }) => bar) },
    },
  })
}

function headOf(group: string) {
  const textStyle = { fontWeight: 'bold' as const, fontSize: 11 } // as wide as the labels, whose width makes the room
  return { name: { value: group, textStyle }, bar: '-' }
}

function rowOf({ label, value }: Bar, { text, ours, peers }: Look) {
  const [color] = isOurs(label) ? ours : peers
  const shown = { color: text, show: true, position: 'right' as const, formatter: figure(value) }
  return { name: label, bar: { value, itemStyle: { color }, label: shown } }
}

/**
 * The text of an SVG: lines over a logarithmic x axis, ours solid and the others dashed. A y that is no
 * number rejects.
 */
export async function linePlot({ title, xLabel, yLabel, series }: LinePlot): Promise<string> {
  const look = ADAPTIVE
  const axis = axisOf(look)
  const textStyle = { color: look.text }
  const names = series.map(({ name }) => name)
  const words = series.map(({ name, points }) => {
    return `${name} ${points.map(([x, y]) => `${figure(y)} at ${figure(x)}`).join(', ')}`
  })
  const roomForNames = 80 + 6.5 * Math.max(...names.map((name) => name.length))
  return svgOf({
    title,
    description: `${yLabel}, over ${xLabel}: ${words.join('; ')}`,
    height: 400,
    look,
    option: {
      grid: { left: 16, right: roomForNames, top: 76, bottom: 44, containLabel: true },
      legend: { orient: 'vertical', right: 16, top: 72, itemWidth: 34, itemHeight: 9, textStyle },
      xAxis: { ...axis, ...TITLE_OF_AXIS, type: 'log', name: xLabel, min: 'dataMin', max: 'dataMax' },
      yAxis: { ...axis, type: 'value', name: yLabel, nameTextStyle: { align: 'left' } },
      series: series.map(({ name, points }) => ({
        type: 'line',
        name,
        silent: true,
        color: colorOf(name, names, look),
        lineStyle: { type: isOurs(name) ? 'solid' : 'dashed' },
        data: points.map((point) => [...point]),
      })),
    },
  })
}

function colorOf(name: string, names: readonly string[], { ours, peers }: Look): string {
  const colors = isOurs(name) ? ours : peers
  const others = names.filter((other) => isOurs(other) === isOurs(name))
  return colors[others.indexOf(name) % colors.length] ?? colors[0]
}

const isOurs = (name: string) => name.startsWith('headgate')

/** A whole number from 100 up, else three digits. */
function figure(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`A plot was given ${value} for a figure.`)
  return Math.abs(value) >= 100 ? whole(value) : String(Number(value.toPrecision(3)))
}
