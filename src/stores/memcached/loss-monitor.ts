import { StoreError } from '../store-error.js'
import type { MemcachedClient } from './client.js'

interface Vitals {
  /** Another value after a restart. */
  readonly instance: string
  readonly flushes: number
  readonly evictions: number
}

/**
 * Creates a monitor that detects restarts, flushes and evictions by the counters in memcached's `stats`. The
 * first poll of a server is the baseline.
 */
export function lossMonitor(client: MemcachedClient) {
  const listeners = new Set<(error: StoreError) => void>()
  const byServer = new Map<string, Vitals>()

  function compare(server: string, vitals: Vitals): void {
    const before = byServer.get(server)
    byServer.set(server, vitals)
    const loss = before && lossBetween(before, vitals)
    if (loss === undefined) return
    const message = `${server} has lost live limits: it ${loss}`
    for (const listener of listeners) listener(new StoreError('memcached', message, { replied: true }))
  }

  const monitor = {
    /** The time of the last poll. */
    polledAtMs: Number.NEGATIVE_INFINITY,
    /** Reads the statistics of all servers, if anyone listens. Never throws. */
    poll(nowMs: number): void {
      if (listeners.size === 0) return
      monitor.polledAtMs = nowMs
      try {
        client.stats((_error, server, stats) => {
          if (stats) compare(server, vitalsIn(stats))
        })
      } catch {
        // An invalid port, for example: charges report it.
      }
    },
    subscribe(listener: (error: StoreError) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  return monitor
}

function vitalsIn(stats: Record<string, string>): Vitals {
  const count = (name: string) => Number(stats[name] ?? 0)
  return {
    instance: `${stats.pid} ${count('time') - count('uptime')}`,
    flushes: count('cmd_flush'),
    evictions: count('evictions'),
  }
}

function lossBetween(before: Vitals, { instance, flushes, evictions }: Vitals): string | undefined {
  if (instance !== before.instance) return 'was restarted'
  if (flushes > before.flushes) return 'was flushed'
  return evictions > before.evictions ? `evicted ${evictions - before.evictions} items` : undefined
}
