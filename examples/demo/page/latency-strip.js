import { shape } from './dom.js'

const MOST_MS = 125
const BAND = 7 // height of the breaker's states, below
const phone = matchMedia('(max-width: 47.99rem)')

/**
 * Creates a strip of the last seconds with a mark for each response: its height is the latency, its shape
 * the status (dot 200, cross 429, triangle 503). A band below shows when the breaker was open; the
 * background shows when the store was off.
 */
export function createLatencyStrip(svg) {
  const originMs = performance.now()
  const grid = shape('path', { class: 'grid' }, svg)
  const moving = shape('g', {}, svg)
  const offArea = shape('path', { class: 'outage' }, moving)
  const openBand = shape('path', { class: 'open' }, moving)
  const ok = shape('path', { class: 'ok' }, moving)
  const denied = shape('path', { class: 'denied' }, moving)
  const failed = shape('path', { class: 'failed' }, moving)
  const labels = shape('g', { class: 'labels' }, svg)
  const glyphs = { 200: [ok, dot], 429: [denied, cross], 503: [failed, triangle] }
  let [width, height, spanMs] = [0, 60, 30_000]
  let marks = [] // { atMs, status, tookMs }
  let outages = [] // { fromMs, toMs }; the last may not have ended
  let changes = []
  let isDirty = true

  new ResizeObserver(([entry]) => resize(entry.contentRect.width)).observe(svg)

  function resize(newWidth) {
    width = newWidth
    height = phone.matches ? 46 : 80
    spanMs = phone.matches ? 20_000 : 30_000
    svg.setAttribute('height', height + BAND)
    const columns = spanMs / 10_000
    const lines = Array.from(
      { length: columns },
      (_, i) => `M${Math.round((i * width) / columns) + 0.5} 0V${height}`,
    )
    grid.setAttribute('d', `${lines.join('')}M0 ${y(100)}H${width}M0 ${y(0)}H${width}`)
    labels.replaceChildren()
    for (const ms of [0, 100]) shape('text', { x: 4, y: y(ms) - 3 }, labels).textContent = `${ms} ms`
    isDirty = true
  }

  const x = (ms) => ((ms - originMs) * width) / spanMs
  const y = (ms) => Math.round((height - 10) * (1 - Math.min(ms, MOST_MS) / MOST_MS)) + 6.5

  function drawMarks() {
    const paths = { 200: '', 429: '', 503: '' }
    for (const { atMs, status, tookMs } of marks) {
      if (status in paths) paths[status] += glyphs[status][1](x(atMs), y(tookMs) - 2)
    }
    for (const [status, [path]] of Object.entries(glyphs)) path.setAttribute('d', paths[status])
  }

  /** Returns the path of spans of time, from top to bottom. */
  function spansPath(spans, nowMs, top, bottom) {
    return spans
      .map(
        ({ fromMs, toMs = nowMs }) =>
          `M${x(fromMs).toFixed(1)} ${top}H${x(toMs).toFixed(1)}V${bottom}H${x(fromMs).toFixed(1)}z`,
      )
      .join('')
  }

  return {
    addMark(atMs, status, tookMs) {
      marks.push({ atMs, status, tookMs })
      isDirty = true
    },

    setOutage(atMs, isOff) {
      const last = outages.at(-1)
      if (last && last.toMs === undefined && !isOff) last.toMs = atMs
      else if (isOff && last?.toMs !== undefined) outages.push({ fromMs: atMs })
      else if (isOff && !last) outages.push({ fromMs: atMs })
    },

    setBreaker(latest) {
      changes = latest
    },

    draw(nowMs) {
      const fromMs = nowMs - spanMs
      if (marks[0]?.atMs < fromMs - 1000) {
        marks = marks.filter(({ atMs }) => atMs > fromMs)
        outages = outages.filter(({ toMs = nowMs }) => toMs > fromMs)
        isDirty = true
      }
      if (isDirty) drawMarks()
      isDirty = false
      const open = changes.flatMap(({ state, atMs }, i) =>
        state === 'closed' ? [] : [{ fromMs: atMs, toMs: changes[i + 1]?.atMs }],
      )
      openBand.setAttribute('d', spansPath(open, nowMs, height + 2, height + BAND))
      offArea.setAttribute('d', spansPath(outages, nowMs, 0, height))
      moving.setAttribute('transform', `translate(${(width - x(nowMs)).toFixed(2)} 0)`)
    },
  }
}

const dot = (left, top) => `M${(left - 2.5).toFixed(1)} ${top}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0`
const cross = (left, top) => `M${(left - 2.5).toFixed(1)} ${top - 2.5}l5 5m0-5l-5 5`
const triangle = (left, top) => `M${(left - 3).toFixed(1)} ${top + 2.5}l3-5.5l3 5.5z`
