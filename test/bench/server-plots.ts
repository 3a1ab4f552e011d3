import { keepPlot } from './harness/keep-plot.js'
import { barPlot } from './harness/plot.js'
import { whole } from './harness/table.js'
import type { Report, Results } from './server-tables.js'

/** Draws how many decisions a second many callers get. */
export async function plotDecisions<Name extends string>(
  { server, names, workloads }: Report<Name>,
  results: Results<Name>,
): Promise<void> {
  const { callers, decisions } = workloads['many keys'] // as with one key
  const bars = (['many keys', 'one key'] as const).flatMap((workload) => {
    const { keys } = workloads[workload]
    const group = keys === 1 ? 'one key' : `${whole(keys)} keys`
    return names.map((label) => {
      return { group, label, value: (decisions / results[workload][label].wallNs) * 1e9 }
    })
  })
  await keepPlot(`${server.toLowerCase()}-decisions`, () =>
    barPlot({
      title: `${server}, ${callers} callers in one process`,
      unit: 'decisions a second, more is better',
      bars,
    }),
  )
}
