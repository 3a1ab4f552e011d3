import { keepPlot } from './harness/keep-plot.js'
import { LOOKS } from './harness/look.js'
import { type Bar, barPlot } from './harness/plot.js'

/** Keeps the plot that the README shows, for light pages and for dark ones. */
export async function keepProfilePlots(bars: readonly Bar[]): Promise<void> {
  const title = 'CPU time that a limiter takes, in a live Express server'
  const unit = 'µs for each allowed request, sampled; less is better'
  for (const [name, look] of Object.entries(LOOKS))
    await keepPlot(`live-profile-${name}`, () => barPlot({ title, unit, bars }, look))
}
