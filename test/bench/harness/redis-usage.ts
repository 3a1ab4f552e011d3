import type { Redis } from 'ioredis'
import type { ServerUsage } from './server-usage.js'

/**
 * Asks a server what it has done so far, over a connection that does nothing else. Requests are calls of
 * scripts: what a client sends and waits for, other than the commands inside of them.
 */
export async function readRedisUsage(watcher: Redis): Promise<ServerUsage> {
  const info = await watcher.info('cpu', 'commandstats')
  const number = (pattern: RegExp) => Number(pattern.exec(info)?.[1] ?? 0)
  const cpuSeconds = number(/^used_cpu_user:([\d.]+)/m) + number(/^used_cpu_sys:([\d.]+)/m)
  const calls = number(/^cmdstat_eval:calls=(\d+)/m) + number(/^cmdstat_evalsha:calls=(\d+)/m)
  return { serverCpuNs: cpuSeconds * 1e9, requests: calls }
}
