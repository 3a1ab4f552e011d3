import { keepPlot } from './harness/keep-plot.js'
import { type Bar, barPlot } from './harness/plot.js'
import { whole } from './harness/table.js'
import type { Report, Results } from './server-tables.js'

/** How many decisions a second some contenders get, in groups by the number of keys. */
export function decisionBars<Name extends string>(
  { workloads }: Pick<Report<Name>, 'workloads'>,
  results: Results<Name>,
  names: readonly Name[],
): Bar[] {
  const { decisions } = workloads['many keys'] // as with one key
  return (['many keys', 'one key'] as const).flatMap((workload) => {
    const { keys } = workloads[workload]
    const group = keys === 1 ? 'one key' : `${whole(keys)} keys`
    return names.map((label) => {
      return { group, label, value: (decisions / results[workload][label].wallNs) * 1e9 }
    })
  })
}

/** Draws how many decisions a second many callers get. */
export async function plotDecisions<Name extends string>(
  report: Report<Name>,
  results: Results<Name>,
): Promise<void> {
  const { server, names, workloads } = report
  const { callers } = workloads['many keys']
  const bars = decisionBars(report, results, names)
  await keepPlot(`${server.toLowerCase()}-decisions`, () =>
    barPlot({
      title: `${server}, ${callers} callers in one process`,
      unit: 'decisions a second, more is better',
      bars,
    }),
  )
}
