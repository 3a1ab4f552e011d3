import { svg } from './dom.js'
import { largestOf, pathOf, ratesOf } from './series.js'

const WIDTH = 160
const HEIGHT = 28
/** A rate below this is drawn low, so that a request now and then does not look like a mountain. */
const SMALL_RATE = 0.5

/**
 * Creates a small drawing of the traffic of a limiter: denied requests below, allowed ones on top. `show` takes its
 * series, if it is known, and since when its store is unavailable, if it is.
 */
export function sparkline() {
  const all = svg('path', { class: 'all' })
  const line = svg('path', { class: 'line' })
  const denied = svg('path', { class: 'denied' })
  const outage = svg('path', { class: 'outage' })
  const viewBox = `0 0 ${WIDTH} ${HEIGHT}`
  const attributes = { class: 'sparkline', viewBox, preserveAspectRatio: 'none', 'aria-hidden': 'true' }
  const drawing = svg('svg', attributes, outage, all, denied, line)

  function show(series, outageMs) {
    if (series === undefined) {
      for (const path of [outage, all, line, denied]) path.setAttribute('d', '')
      return
    }
    outage.setAttribute('d', shadeOf(series, outageMs))
    const rates = ratesOf(series)
    const largest = largestOf([rates], SMALL_RATE)
    const x = (i) => (i * WIDTH) / Math.max(1, rates.length - 1)
    const y = (rate) => HEIGHT - 1 - ((HEIGHT - 3) * rate) / largest
    // A few denials among many requests must also be seen, so they are drawn at least this high.
    const low = (rate) => Math.min(y(rate), HEIGHT - 3)
    const totals = rates.map((each) => each?.all)
    all.setAttribute('d', pathOf(totals, x, y, HEIGHT))
    line.setAttribute('d', pathOf(totals, x, y))
    denied.setAttribute(
      'd',
      pathOf(
        rates.map((each) => each?.denied || undefined),
        x,
        low,
        HEIGHT,
      ),
    )
  }

  return { drawing, show }
}

/** Returns the path of the times without the store, each wide enough to be seen. */
export function shadeOf({ stepMs, fromMs, allowed, outages = [] }, outageMs) {
  const lengthMs = stepMs * Math.max(1, allowed.length - 1)
  const running = outageMs === undefined ? [] : [{ fromMs: outageMs, toMs: Number.POSITIVE_INFINITY }]
  const x = (ms) => Math.round(Math.min(1, Math.max(0, (ms - fromMs) / lengthMs)) * WIDTH * 10) / 10
  return [...outages, ...running]
    .filter((each) => each.toMs > fromMs)
    .map((each) => {
      const end = Math.max(2, x(each.toMs))
      const start = Math.min(x(each.fromMs), end - 2)
      return `M${start} 0H${end}V${HEIGHT}H${start}Z`
    })
    .join('')
}
