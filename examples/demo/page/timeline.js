const ROWS = 10
const PITCH = 9 // px from mark to mark
const AXIS = ROWS * PITCH + 6
const LANE_TOP = 2 * AXIS + 6
const LANE_HEIGHT = 48
const SVG = 'http://www.w3.org/2000/svg'

/**
 * Creates a strip of the last seconds that moves to the left. Each request is a mark at its time: allowed above
 * the line, denied below it. The area below shows what was left of the quota.
 */
export function createTimeline(svg) {
  const originMs = performance.now()
  const moving = shape('g', {}, svg)
  const ticks = shape('path', { class: 'ticks' }, moving)
  const area = shape('path', { class: 'level' }, moving)
  const axis = shape('path', { class: 'axis' }, svg)
  const marks = []
  const samples = [] // [ms, level between 0 and 1]
  let width = 600
  let pxPerMs = 0.03
  let idle = false

  svg.setAttribute('height', LANE_TOP + LANE_HEIGHT + 1)
  new ResizeObserver(([entry]) => resize(entry.contentRect.width)).observe(svg)

  function resize(newWidth) {
    width = newWidth
    pxPerMs = Math.max(0.03, width / 20_000)
    axis.setAttribute('d', `M0 ${AXIS}H${width}M0 ${LANE_TOP + LANE_HEIGHT + 0.5}H${width}`)
    for (const mark of marks) place(mark)
    idle = false
  }

  const x = (ms) => (ms - originMs) * pxPerMs

  function addMark(allowed) {
    const use = shape('use', { href: allowed ? '#let-through' : '#denied' }, moving)
    use.dataset.mark = allowed ? 'allowed' : 'denied'
    const mark = { ms: performance.now(), allowed, use, row: 0 }
    mark.row = freeRow(mark)
    marks.push(mark)
    place(mark)
  }

  /** Returns the row of a mark: simultaneous marks of one kind stack up, and share the last row. */
  function freeRow({ ms, allowed }) {
    const inColumn = marks.filter((mark) => mark.allowed === allowed && column(mark.ms) === column(ms))
    return Math.min(ROWS - 1, inColumn.length)
  }

  const column = (ms) => Math.floor(x(ms) / PITCH)

  function place({ ms, allowed, use, row }) {
    const offset = (row + 0.5) * PITCH + 4
    use.setAttribute('x', (column(ms) + 0.5) * PITCH)
    use.setAttribute('y', allowed ? AXIS - offset : AXIS + offset)
  }

  /** Adds at most ten samples a second. Before the first, and while the strip stood still, all was left. */
  function addSample(level, nowMs, wasIdle, fromMs) {
    if (!samples.length && level === 1) samples.push([fromMs, 1])
    if (wasIdle) samples.push([nowMs, 1])
    if (!samples.length || nowMs - samples.at(-1)[0] > 100) samples.push([nowMs, level])
  }

  /** Draws the strip as of now. It stands still while there is nothing to show. */
  function draw(level) {
    const wasIdle = idle
    idle = marks.length === 0 && level === 1
    if (idle && wasIdle) return
    const nowMs = performance.now()
    const fromMs = nowMs - width / pxPerMs
    moving.setAttribute('transform', `translate(${width - x(nowMs)} 0)`)
    while (marks[0] && marks[0].ms < fromMs - 1000) marks.shift().use.remove()
    while (samples[1] && samples[1][0] < fromMs) samples.shift()
    addSample(level, nowMs, wasIdle, fromMs)
    area.setAttribute('d', areaPath([...samples, [nowMs, level]]))
    ticks.setAttribute('d', tickPath(fromMs, nowMs))
  }

  function areaPath(points) {
    const bottom = LANE_TOP + LANE_HEIGHT
    const line = points.map(
      ([ms, level]) => `L${x(ms).toFixed(1)} ${(bottom - level * LANE_HEIGHT).toFixed(1)}`,
    )
    return `M${x(points[0][0])} ${bottom}${line.join('')}V${bottom}Z`
  }

  function tickPath(fromMs, toMs) {
    let path = ''
    for (let s = Math.ceil((fromMs - originMs) / 1000); originMs + s * 1000 <= toMs; s++) {
      path += `M${x(originMs + s * 1000).toFixed(1)} 0V${LANE_TOP + LANE_HEIGHT}`
    }
    return path
  }

  function clear() {
    for (const { use } of marks.splice(0)) use.remove()
    samples.length = 0
    idle = false
  }

  return { addMark, draw, clear }
}

function shape(name, attributes, parent) {
  const made = document.createElementNS(SVG, name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  parent.append(made)
  return made
}
