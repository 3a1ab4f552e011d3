import { shape } from './dom.js'

const WIDE = { spanMs: 30_000, pitch: 7, rows: 7, levelHeight: 24 }
const NARROW = { spanMs: 20_000, pitch: 5, rows: 4, levelHeight: 6 }
const phone = matchMedia('(max-width: 47.99rem)')
const GAP = 4

/**
 * Creates a strip of the last seconds that moves to the left. Each request is a mark at its time, those of
 * one moment stacked: a square if it was allowed, a cross if it was denied. The area below shows what was
 * left of the quota. With `borderAtMs`, lines show where windows of `windowMs` end.
 */
export function createStrip(svg) {
  const originMs = performance.now()
  const grid = shape('path', { class: 'grid' }, svg)
  const moving = shape('g', {}, svg)
  const area = shape('path', { class: 'level' }, moving)
  const borders = shape('path', { class: 'borders' }, moving)
  const allowed = shape('path', { class: 'allowed' }, moving)
  const denied = shape('path', { class: 'denied' }, moving)
  const scale = shape('text', { x: 4 }, svg)
  scale.textContent = '10 units'
  let size = WIDE
  let width = 0
  let marks = [] // { ms, isAllowed }, in order
  let samples = [] // [ms, share of the quota], one for each change
  let isDirty = true
  let windows

  new ResizeObserver(([entry]) => resize(entry.contentRect.width)).observe(svg)

  function resize(newWidth) {
    width = newWidth
    size = phone.matches ? NARROW : WIDE
    svg.setAttribute('height', bottom())
    const columns = size.spanMs / 10_000
    const lines = Array.from(
      { length: columns },
      (_, i) => `M${Math.round((i * width) / columns) + 0.5} 0V${bottom()}`,
    )
    scale.setAttribute('y', phone.matches ? -20 : base() + GAP + 10)
    grid.setAttribute('d', `${lines.join('')}M0 ${base() + 1.5}H${width}M0 ${bottom() - 0.5}H${width}`)
    isDirty = true
  }

  const base = () => size.rows * size.pitch
  const bottom = () => base() + GAP + size.levelHeight
  const x = (ms) => ((ms - originMs) * width) / size.spanMs

  function drawMarks() {
    const { pitch, rows } = size
    const heights = new Map()
    const paths = { true: '', false: '' }
    for (const { ms, isAllowed } of marks) {
      const column = Math.floor(x(ms) / pitch)
      const row = Math.min(heights.get(column) ?? 0, rows - 1)
      heights.set(column, row + 1)
      const [left, top, side] = [column * pitch + 0.5, base() - (row + 1) * pitch + 0.5, pitch - 1.5]
      paths[isAllowed] += isAllowed
        ? `M${left} ${top}h${side}v${side}h-${side}z`
        : `M${left} ${top}l${side} ${side}m0-${side}l-${side} ${side}`
    }
    allowed.setAttribute('d', paths.true)
    denied.setAttribute('d', paths.false)
  }

  function areaPath(nowMs) {
    if (samples.length === 0) return ''
    const y = (share) => (bottom() - share * size.levelHeight).toFixed(1)
    const steps = samples.map(([ms, share]) => `H${x(ms).toFixed(1)}V${y(share)}`).join('')
    return `M${x(samples[0][0]).toFixed(1)} ${bottom()}${steps}H${x(nowMs).toFixed(1)}V${bottom()}z`
  }

  function borderPath(nowMs) {
    if (windows === undefined) return ''
    const { atMs, lengthMs } = windows
    let path = ''
    const last = atMs + Math.floor((nowMs - atMs) / lengthMs) * lengthMs
    for (let ms = last; ms > nowMs - size.spanMs; ms -= lengthMs) path += `M${x(ms).toFixed(1)} 0V${bottom()}`
    return path
  }

  return {
    addMark(ms, isAllowed) {
      marks.push({ ms, isAllowed })
      isDirty = true
    },

    addLevel(ms, share) {
      if (samples.at(-1)?.[1] !== share) samples.push([ms, share])
    },

    /** Shows the borders of windows: one of them is at `atMs`. */
    showBorders(atMs, lengthMs) {
      windows = { atMs, lengthMs }
    },

    draw(nowMs) {
      const fromMs = nowMs - size.spanMs
      if (marks[0]?.ms < fromMs - 1000) {
        marks = marks.filter(({ ms }) => ms > fromMs)
        isDirty = true
      }
      while (samples[1]?.[0] < fromMs) samples.shift()
      if (isDirty) drawMarks()
      isDirty = false
      area.setAttribute('d', areaPath(nowMs))
      borders.setAttribute('d', borderPath(nowMs))
      moving.setAttribute('transform', `translate(${(width - x(nowMs)).toFixed(2)} 0)`)
    },

    clear() {
      marks = []
      samples = []
      isDirty = true
    },
  }
}
