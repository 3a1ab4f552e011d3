import { keepPlot } from './harness/keep-plot.js'
import { type Bar, barPlot } from './harness/plot.js'
import { whole } from './harness/table.js'
import type { Figures, Report, Results } from './server-tables.js'

/** Draws what many callers get: decisions a second, and the server's CPU for one. */
export async function plotResults<Name extends string>(
  report: Report<Name>,
  results: Results<Name>,
): Promise<void> {
  const { server, workloads } = report
  const { callers, decisions } = workloads['many keys'] // as with one key
  const file = server.toLowerCase()
  const title = `${server}, ${callers} callers in one process`
  await keepPlot(`${file}-decisions`, () =>
    barPlot({
      title,
      unit: 'decisions a second, more is better',
      bars: barsOf(report, results, ({ wallNs }) => (decisions / wallNs) * 1e9),
    }),
  )
  await keepPlot(`${file}-cpu`, () =>
    barPlot({
      title,
      unit: `µs of ${server} CPU per decision, less is better`,
      bars: barsOf(report, results, ({ serverCpuNs }) => serverCpuNs / decisions / 1000),
    }),
  )
}

function barsOf<Name extends string>(
  { names, workloads }: Report<Name>,
  results: Results<Name>,
  figureOf: (figures: Figures) => number,
): Bar[] {
  return (['many keys', 'one key'] as const).flatMap((workload) => {
    const { keys } = workloads[workload]
    const group = keys === 1 ? 'one key' : `${whole(keys)} keys`
    return names.map((label) => ({ group, label, value: figureOf(results[workload][label]) }))
  })
}
