import { setTimeout as pause } from 'node:timers/promises'

/** Queries that run at once. The others wait, as for a pool of connections. */
export const CONNECTIONS = 4
const QUERY_MS = 10
const REPORT_MS = 100

const PASSWORDS = new Map([['ada', 'analytical engine']])

/** Stands for a database: each query takes a connection for some time. */
export function slowDatabase() {
  const freeAtMs = Array.from({ length: CONNECTIONS }, () => 0)

  /** Waits for a connection, and for the query. */
  function run(takesMs: number): Promise<void> {
    const nowMs = performance.now()
    const first = freeAtMs.indexOf(Math.min(...freeAtMs))
    const endMs = Math.max(nowMs, freeAtMs[first] ?? 0) + takesMs
    freeAtMs[first] = endMs
    return pause(endMs - nowMs)
  }

  return {
    async product(id: string) {
      await run(QUERY_MS)
      return { id, name: `Product ${id}` }
    },
    async report(month: string) {
      await run(REPORT_MS)
      return { month, orders: 42 }
    },
    async hasPassword(name: string, password: string): Promise<boolean> {
      await run(QUERY_MS)
      return PASSWORDS.get(name) === password // yours are hashed
    },
  }
}
