import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RedisServer, startRedisNode, startSentinelNode } from './redis-node.js'
import { startAll, stopAll, until } from './wait.js'

const NAME = 'headgate'

export interface SentinelOptions {
  /** How long the master must be silent before the Sentinels count it as down. */
  readonly downAfterMs?: number
  /** A failover that takes longer is given up; the next attempt comes after twice this time. */
  readonly failoverTimeoutMs?: number
}

export interface RedisSentinel {
  /** The name that the Sentinels know the master by. */
  readonly name: string
  readonly sentinels: readonly RedisServer[]
  /** The server that was the master at the start; after a failover it is not. */
  readonly master: RedisServer
  readonly replica: RedisServer
  /** The port of the master that the Sentinels name now. */
  masterPort(): Promise<number>
  /** Waits until all Sentinels that run name this server as the master and it takes writes. */
  promoted(server: RedisServer): Promise<void>
  stop(): Promise<void>
}

/** Starts a master, a replica and three Sentinels, two of which decide a failover. */
export async function startRedisSentinel(options: SentinelOptions = {}): Promise<RedisSentinel> {
  const started: RedisServer[] = []
  const keep = <T extends RedisServer>(server: T) => {
    started.push(server)
    return server
  }
  try {
    const master = keep(await startRedisNode('redis-master', () => []))
    const of = ['--replicaof', master.host, String(master.port)]
    const replica = keep(await startRedisNode('redis-replica', () => of))
    const watch = configuration(master, options)
    const sentinels = await startAll([1, 2, 3].map(() => startSentinelNode('redis-sentinel', watch)))
    sentinels.forEach(keep)
    await Promise.all(sentinels.map(hurry))
    await until('the Sentinels agree', async () => (await Promise.all(sentinels.map(agrees))).every(Boolean))
    return groupOf(master, replica, sentinels)
  } catch (error) {
    await stopAll(started)
    throw error
  }
}

function configuration(
  master: RedisServer,
  { downAfterMs = 1000, failoverTimeoutMs = 3000 }: SentinelOptions,
) {
  const lines = [
    `sentinel monitor ${NAME} ${master.host} ${master.port} 2`,
    `sentinel down-after-milliseconds ${NAME} ${downAfterMs}`,
    `sentinel failover-timeout ${NAME} ${failoverTimeoutMs}`,
  ]
  return async ({ folder }: { folder: string }) => {
    const file = join(folder, 'sentinel.conf')
    await writeFile(file, `${lines.join('\n')}\n`)
    return file
  }
}

/**
 * Makes a Sentinel (Redis 7) look around ten times as often as it does by itself. It must also not fall
 * into its tilt mode, in which it takes no part for 30 seconds, because a busy machine kept it waiting.
 */
async function hurry(sentinel: RedisServer): Promise<void> {
  const periods = { 'info-period': 500, 'publish-period': 200, 'ping-period': 200, 'ask-period': 200 }
  const tilt = { 'tilt-trigger': 20_000, 'tilt-period': 1000 }
  const settings = Object.entries({ ...periods, ...tilt }).flat()
  await sentinel.cli('SENTINEL', 'DEBUG', ...settings)
}

/** Whether a Sentinel knows the two others, and one replica that could take over. */
async function agrees(sentinel: RedisServer): Promise<boolean> {
  const quorum = await sentinel.cli('SENTINEL', 'CKQUORUM', NAME)
  if (!quorum.startsWith('OK 3 usable Sentinels')) return false
  const replicas = (await sentinel.cli('SENTINEL', 'REPLICAS', NAME)).split('\n')
  const value = (field: string) => replicas[replicas.indexOf(field) + 1]
  return value('flags') === 'slave' && value('master-link-status') === 'ok'
}

function groupOf(master: RedisServer, replica: RedisServer, sentinels: RedisServer[]): RedisSentinel {
  const portAt = async (sentinel: RedisServer) =>
    Number((await sentinel.cli('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)).split('\n')[1])
  const running = () => sentinels.filter(({ pid }) => pid !== undefined)
  return {
    name: NAME,
    sentinels,
    master,
    replica,
    async masterPort() {
      const [first] = running()
      if (first === undefined) throw new Error('No Sentinel runs.')
      return portAt(first)
    },
    async promoted(server) {
      await until(`the Sentinels name port ${server.port} as the master`, async () => {
        const ports = await Promise.all(running().map(portAt))
        return ports.every((port) => port === server.port) && (await server.cli('ROLE')).startsWith('master')
      })
    },
    stop: () => stopAll([...sentinels, replica, master]),
  }
}
