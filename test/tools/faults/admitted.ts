import type { Choice } from './app.js'
import { promiseTo } from './clients.js'
import type { Seen } from './load.js'

/** What the client that got most beyond its promise was let through. */
export interface Admitted {
  readonly client: string
  /** What its policy lets through in the run. */
  readonly promise: number
  /** By where the decision came from. */
  readonly bySource: Readonly<Record<string, number>>
}

/**
 * The hot client that was let through most, of what the choice bounds: `'fail-open'` decisions are not bounded.
 */
export function mostAdmitted(seen: readonly Seen[], choice: Choice): Admitted {
  const times = seen.map(({ decidedAtMs }) => decidedAtMs)
  const [fromMs, toMs] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))]
  const clients = new Map<string, Record<string, number>>()
  for (const { client, status, source } of seen) {
    if (status !== 200 || !client.includes(':hot-')) continue
    const bySource = clients.get(client) ?? {}
    clients.set(client, bySource)
    bySource[source] = (bySource[source] ?? 0) + 1
  }
  const all = [...clients].map(([client, bySource]) => {
    return { client, bySource, promise: promiseTo(client, fromMs, toMs) }
  })
  const rank = (each: Admitted) => boundedUnits(each, choice) / each.promise
  return all.reduce((a, b) => (rank(b) > rank(a) ? b : a))
}

/** What counts against the bound. */
export function boundedUnits({ bySource }: Admitted, choice: Choice): number {
  const { store = 0, local = 0, closed = 0 } = bySource
  return choice === 'allow' ? store : store + local + closed
}
