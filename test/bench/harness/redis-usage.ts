import type { Redis } from 'ioredis'

/** What a Redis server took for a piece of work. */
export interface RedisUsage {
  /** CPU of the whole server, user and system. */
  readonly redisCpuNs: number
  /** How many scripts were called: what a client sends and waits for, other than the commands inside of them. */
  readonly scripts: number
}

/** Starts measuring a server, over a connection that does nothing else; the function that comes back tells what was used. */
export async function measureRedis(watcher: Redis): Promise<() => Promise<RedisUsage>> {
  const before = await readInfo(watcher)
  return async () => {
    const after = await readInfo(watcher)
    return { redisCpuNs: after.redisCpuNs - before.redisCpuNs, scripts: after.scripts - before.scripts }
  }
}

async function readInfo(watcher: Redis): Promise<RedisUsage> {
  const info = await watcher.info('cpu', 'commandstats')
  const number = (pattern: RegExp) => Number(pattern.exec(info)?.[1] ?? 0)
  const cpuSeconds = number(/^used_cpu_user:([\d.]+)/m) + number(/^used_cpu_sys:([\d.]+)/m)
  const calls = number(/^cmdstat_eval:calls=(\d+)/m) + number(/^cmdstat_evalsha:calls=(\d+)/m)
  return { redisCpuNs: cpuSeconds * 1e9, scripts: calls }
}
