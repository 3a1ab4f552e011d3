import { readFileSync, writeFileSync } from 'node:fs'
import { until } from '../../support/servers/wait.js'
import { HammeringClients } from './hammering-clients.js'
import { STOPPED_TWICE, STOPPED_WHILE_STARTING } from './preloads.js'
import { restartedServer } from './restarted-server.js'

/** The limit on the pages, for each client. */
const LIMIT = 100

const SERVERS = [
  ['a process', 'docs/stores/memory.md', ''],
  ['a primary of node:cluster', 'docs/stores/cluster.md', 'start()'],
] as const

/**
 * Defines the tests that servers of the docs pass their counts on under traffic: each client is allowed its
 * limit over all processes together. The restarts are spread over the units of all clients.
 */
export function describeRestarts(clients: number, restarts: number): void {
  const times = restarts === 1 ? 'once' : `${restarts} times`
  test.each(SERVERS)(
    `%s that restarts ${times} under traffic admits nothing beyond the limits`,
    async (_, page, end) => {
      const server = await restartedServer(page, end)
      const load = new HammeringClients(clients, server.port)
      try {
        await server.start()
        load.start()
        for (let i = 1; i <= restarts; i++) {
          const due = (i * clients * LIMIT) / (restarts + 2)
          await until('a part of the units is taken', () => load.sum('allowed') >= due, { everyMs: 1 })
          await server.stop()
          expect(load.sum('allowed')).toBeLessThan(clients * LIMIT) // the rest is for the next process
          await server.start()
        }
        await until('each client was denied', () => load.counts.every(({ denied }) => denied > 0))
        await load.stop()
        for (const { allowed, lost } of load.counts) {
          expect(allowed).toBeLessThanOrEqual(LIMIT)
          expect(allowed + lost).toBeGreaterThanOrEqual(LIMIT)
        }
        await server.stop()
      } finally {
        await load.stop()
        await server.remove()
      }
    },
  )
}

/** Defines the tests that a dump which is refused stops one start, and stays for inspection. */
export function describeRefusedDumps(): void {
  test.each(SERVERS)(
    '%s does not start with a damaged dump, keeps it, and starts without one',
    async (_, page, end) => {
      const server = await restartedServer(page, end)
      try {
        writeFileSync(server.file, 'damaged')
        expect(await server.startInVain()).toContain('TypeError: restoreMemory: ')
        expect(readFileSync(`${server.file}.used`, 'utf8')).toBe('damaged')
        await server.start()
        await server.stop()
      } finally {
        await server.remove()
      }
    },
  )
}

/** Defines the tests that no signal at the wrong moment loses the counts. */
export function describeSignals(): void {
  test.each(SERVERS)(
    '%s that is stopped while it starts, or twice, passes its counts on',
    async (_, page, end) => {
      const server = await restartedServer(page, end)
      try {
        await server.start()
        const before = await remainingAt(server.port)
        await server.stop()
        server.startWith(STOPPED_WHILE_STARTING)
        await server.stopped()
        server.startWith(STOPPED_TWICE)
        await server.isUp()
        await server.stop()
        await server.start()
        expect(await remainingAt(server.port)).toBe(before - 1)
      } finally {
        await server.remove()
      }
    },
  )
}

/** Makes a request, and returns how many its client has left. */
async function remainingAt(port: number): Promise<number> {
  const { headers } = await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } })
  return Number(headers.get('x-ratelimit-remaining') ?? Number.NaN)
}
