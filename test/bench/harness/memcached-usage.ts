import type { MemcachedServer } from '../../support/servers/memcached.js'
import type { ServerUsage } from './server-usage.js'

/**
 * The counters that go up by one for each request. A compare-and-swap is a `cmd_set`, and would be in
 * `cas_hits` once more.
 */
const REQUESTS = ['cmd_get', 'cmd_set', 'incr_hits', 'incr_misses', 'decr_hits', 'decr_misses']
const CPU_SECONDS = ['rusage_user', 'rusage_system']

/** Reads a server's counters. None of memcached's figures counts an increment that creates a counter. */
export async function readMemcachedUsage(server: MemcachedServer): Promise<ServerUsage> {
  const figures = await readStats(server)
  const sumOf = (names: readonly string[]) => names.reduce((sum, name) => sum + Number(figures.get(name)), 0)
  return { serverCpuNs: sumOf(CPU_SECONDS) * 1e9, requests: sumOf(REQUESTS), commandNs: 0 }
}

/** The answer to `stats`, or to `stats slabs` and the like. */
export async function readStats(server: MemcachedServer, of?: string): Promise<ReadonlyMap<string, string>> {
  const text = await server.command(of === undefined ? 'stats' : `stats ${of}`)
  return new Map(
    Array.from(text.matchAll(/^STAT (\S+) (.*?)\r?$/gm), ([, name = '', value = '']) => [name, value]),
  )
}
