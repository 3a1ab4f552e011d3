import type { Redis } from 'ioredis'
import type { ServerUsage } from './server-usage.js'

/** What a client sends and waits for, other than the commands inside of scripts. */
const REQUESTS = ['eval', 'evalsha', 'unlink']

/** Asks a server what it has done so far, over a connection that does nothing else. */
export async function readRedisUsage(watcher: Redis): Promise<ServerUsage> {
  const info = await watcher.info('cpu', 'commandstats')
  const number = (pattern: RegExp) => Number(pattern.exec(info)?.[1] ?? 0)
  const cpuSeconds = number(/^used_cpu_user:([\d.]+)/m) + number(/^used_cpu_sys:([\d.]+)/m)
  const sumOf = (figure: string) =>
    REQUESTS.reduce((sum, name) => sum + number(new RegExp(`^cmdstat_${name}:.*\\b${figure}=(\\d+)`, 'm')), 0)
  return { serverCpuNs: cpuSeconds * 1e9, requests: sumOf('calls'), commandNs: sumOf('usec') * 1000 }
}
