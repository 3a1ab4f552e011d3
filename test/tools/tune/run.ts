import { judge } from './judge.js'
import type { Row } from './table.js'
import { peaceful, type Trace } from './trace.js'
import { hardTraces, TRACES } from './traces.js'

/** Limits in force while each trace was recorded: one that suits, and one far too wide. */
const IN_FORCE = [
  [120, 5000],
  [40, 500],
  [400, 50_000],
] as const

/** Returns what `headgate tune` makes of the three traces, with limits in force or without any. */
export async function runTraces(seed: number, withLimits: boolean): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const [i, traceOf] of TRACES.entries()) {
    const trace = traceOf(seed)
    const add = async (each: Trace, inForce?: number) =>
      rows.push({ title: each.title, judgement: await judge(each, inForce) })
    await add(trace)
    await add(peaceful(trace))
    for (const inForce of (withLimits && IN_FORCE[i]) || []) await add(trace, inForce)
  }
  for (const trace of hardTraces(seed)) rows.push({ title: trace.title, judgement: await judge(trace) })
  return rows
}
