import type { OverloadGuard } from 'headgate/http'
import { until } from './servers/wait.js'

/** The options of a guard whose limit is known. */
export const atMost = (limit: number) => ({ minLimit: limit, maxLimit: limit, maxWait: 0 }) as const

/** Returns functions that resolve once so many requests run, or wait. */
export function watch(guard: Pick<OverloadGuard, 'status'>) {
  const reach = (field: 'running' | 'waiting') => (count: number) =>
    until(`${count} are ${field}`, () => guard.status()[field] === count, { everyMs: 1 })
  return { runs: reach('running'), waits: reach('waiting') }
}
