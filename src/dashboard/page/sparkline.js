import { svg } from './dom.js'
import { largestOf, pathOf, ratesOf } from './series.js'

const WIDTH = 160
const HEIGHT = 28
/** A rate below this is drawn low, so that a request now and then does not look like a mountain. */
const SMALL_RATE = 0.5

/** Creates a small drawing of the traffic of a limiter: denied requests below, allowed ones on top. */
export function sparkline() {
  const all = svg('path', { class: 'all' })
  const line = svg('path', { class: 'line' })
  const denied = svg('path', { class: 'denied' })
  const viewBox = `0 0 ${WIDTH} ${HEIGHT}`
  const attributes = { class: 'sparkline', viewBox, preserveAspectRatio: 'none', 'aria-hidden': 'true' }
  const drawing = svg('svg', attributes, all, denied, line)

  function show(series) {
    if (series === undefined) return
    const rates = ratesOf(series)
    const largest = largestOf([rates], SMALL_RATE)
    const x = (i) => (i * WIDTH) / Math.max(1, rates.length - 1)
    const y = (rate) => HEIGHT - 1 - ((HEIGHT - 3) * rate) / largest
    // Few denials among many requests are seen as well: they are drawn at least so high.
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
