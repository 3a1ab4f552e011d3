import { keepPlot } from './harness/keep-plot.js'
import { LOOKS } from './harness/look.js'
import { type Bar, type BarPlot, barPlot } from './harness/plot.js'

/** Keeps the plot that the page on benchmarks begins with. */
export async function keepProfilePlots(bars: readonly Bar[]): Promise<void> {
  const title = 'CPU time that a limiter takes, in a live Express server'
  const unit = 'µs for each allowed request, sampled; less is better'
  await keepForPages('live-profile', { title, unit, bars })
}

/** Keeps the plot that the README and the home page show. */
export async function keepRedisPlots(bars: readonly Bar[]): Promise<void> {
  const title = 'Limiters on Redis, 200 callers in one process'
  const unit = 'decisions a second, more is better'
  await keepForPages('redis-limiters', { title, unit, bars })
}

/** Keeps a plot for light pages and for dark ones. */
async function keepForPages(name: string, plot: BarPlot): Promise<void> {
  for (const [page, look] of Object.entries(LOOKS))
    await keepPlot(`${name}-${page}`, () => barPlot(plot, look))
}
