import { areasOf, FLOOR, gridOf, HEIGHT, LEFT, marksOf, RIGHT, shadesOf, TOP } from './chart-shapes.js'
import { el, setAttribute, setText, svg } from './dom.js'
import { clock, percent, rate, withTimes } from './format.js'
import { largestOf, ratesOf } from './series.js'

/**
 * Creates the chart of a limiter. `show` gets `{ series, yesterday, outages, marks }`: the dashed line of yesterday,
 * the shaded times without the store, and the marked events. It gets `undefined` until the series has been read.
 * Arrow keys and the pointer choose a step to read.
 */
export function trafficChart(label) {
  const readout = el('p', { class: 'readout' })
  const drawing = svg('svg', { class: 'traffic', height: HEIGHT })
  const holder = el('div', { class: 'chart', role: 'slider', tabindex: '0', 'aria-label': label }, drawing)
  const cursor = svg('line', { class: 'cursor', y1: TOP, y2: FLOOR })
  let shown
  let scale
  /** The step that is read; the last one, unless the reader has chosen another. */
  let chosen

  function draw() {
    const width = holder.clientWidth
    if (shown === undefined) return empty()
    if (width === 0) return
    scale = scaleOf(shown, width)
    setAttribute(drawing, 'width', String(width))
    setAttribute(drawing, 'viewBox', `0 0 ${width} ${HEIGHT}`)
    drawing.replaceChildren(
      ...shadesOf(shown.outages, scale),
      ...gridOf(scale, width),
      ...areasOf(scale),
      ...marksOf(shown.marks, scale),
      cursor,
    )
    read()
  }

  /** What was drawn before may be of another range. */
  function empty() {
    scale = undefined
    drawing.replaceChildren()
    setText(readout, 'Loading…')
    setAttribute(holder, 'aria-valuetext', 'Loading…')
  }

  function read() {
    const { rates, others, timeOf, x } = scale
    const last = rates.length - 1
    const at = Math.min(chosen ?? last, last)
    cursor.setAttribute('x1', x(at))
    cursor.setAttribute('x2', x(at))
    drawing.classList.toggle('is-reading', chosen !== undefined)
    const text = textOf(timeOf(at), rates[at], others?.[at])
    const event = chosen === undefined ? undefined : markNear(shown, timeOf(at), scale.stepMs)
    const words = event === undefined ? text : `${text} · ${withTimes(event.text)}`
    setText(readout, words)
    setAttribute(holder, 'aria-valuetext', words)
    setAttribute(holder, 'aria-valuemin', '0')
    setAttribute(holder, 'aria-valuemax', String(Math.max(0, last)))
    setAttribute(holder, 'aria-valuenow', String(Math.max(0, at)))
  }

  function choose(step) {
    chosen = step === undefined ? undefined : Math.max(0, Math.min(scale.rates.length - 1, step))
    read()
  }

  holder.addEventListener('pointermove', ({ clientX }) => {
    if (scale) choose(Math.round(scale.stepAt(clientX - holder.getBoundingClientRect().left)))
  })
  holder.addEventListener('pointerleave', () => scale && choose(undefined))
  holder.addEventListener('blur', () => scale && choose(undefined))
  holder.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key]
    if (by === undefined || !scale) return
    event.preventDefault()
    choose((chosen ?? scale.rates.length - 1) + by)
  })
  new ResizeObserver(draw).observe(holder)

  return {
    element: el('div', { class: 'chart-box' }, readout, holder),
    show(next) {
      shown = next
      draw()
    },
  }
}

/** Returns where steps, rates and times are, in a chart of some width. */
function scaleOf({ series, yesterday }, width) {
  const { stepMs, fromMs } = series
  const rates = ratesOf(series)
  const others = yesterday && alignedTo(series, yesterday)
  const largest = largestOf(others ? [rates, others] : [rates], 1) * 1.08
  const steps = Math.max(1, rates.length - 1)
  const inner = width - LEFT - RIGHT
  return {
    rates,
    others,
    largest,
    stepMs,
    fromMs,
    toMs: fromMs + steps * stepMs,
    x: (i) => LEFT + (i * inner) / steps,
    y: (value) => FLOOR - (value * (FLOOR - TOP)) / largest,
    xOfTime: (ms) => LEFT + (Math.min(steps, Math.max(0, (ms - fromMs) / stepMs)) * inner) / steps,
    stepAt: (px) => ((px - LEFT) * steps) / inner,
    timeOf: (i) => fromMs + i * stepMs,
  }
}

/** Returns the rates of another series at the times of a series, which may have shorter steps. */
function alignedTo({ stepMs, fromMs, allowed }, other) {
  const rates = ratesOf(other)
  return allowed.map((_, i) => rates[Math.floor((fromMs + i * stepMs - other.fromMs) / other.stepMs)] ?? null)
}

/** Returns the event nearest to a time, if it is within a step or two. */
function markNear({ marks = [] }, ms, stepMs) {
  const near = marks.filter(({ atMs }) => Math.abs(atMs - ms) <= 1.5 * stepMs)
  return near.sort((a, b) => Math.abs(a.atMs - ms) - Math.abs(b.atMs - ms))[0]
}

function textOf(ms, rates, other) {
  if (!rates) return `${clock(ms)} · no data`
  const { denied, all } = rates
  const share = all === 0 ? 0 : denied / all
  const parts = [
    `${rate(all - denied)} allowed, ${rate(denied)} denied per second (${percent(share)})`,
    other && `yesterday ${rate(other.all)} in total, ${rate(other.denied)} denied`,
  ]
  return [clock(ms), ...parts.filter(Boolean)].join(' · ')
}
