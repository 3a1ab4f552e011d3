import { setTimeout as pause } from 'node:timers/promises'
import { startProxy } from '../../support/proxy.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { startRedisCluster } from '../../support/servers/redis-cluster.js'
import { startRedisSentinel } from '../../support/servers/redis-sentinel.js'
import { commonFaults, repeat } from './common-faults.js'
import { behindProxy, type Fault, type Scene, type Stage } from './stage.js'

type RedisStage = Stage & { readonly server: RedisServer }

const FILLER_BYTES = 64 * 1024

const onRedis = (kind: 'redis' | 'redis-6'): Scene<RedisStage> => ({
  store: kind,
  faults: [
    ...commonFaults(1),
    {
      name: 'SCRIPT FLUSH',
      isHarmless: true,
      inflict: ({ server }) => repeat(1500, 300, () => server.cli('SCRIPT', 'FLUSH')),
    },
    { name: 'OOM', inflict: ({ server }) => fillUp(server) },
  ],
  async start() {
    const server = await startRedis({ own: true })
    return behindProxy(
      server,
      ({ host, port }) => ({ kind, host, port }),
      () => server.cli('PING'),
      {},
    )
  },
})

export const redis = onRedis('redis')
/** The same with redis 6, also called node-redis, in place of ioredis. */
export const redis6 = onRedis('redis-6')

/** Other data take all of the memory for a while. */
async function fillUp(server: RedisServer): Promise<void> {
  const used = Number(/used_memory:(\d+)/.exec(await server.cli('INFO', 'memory'))?.[1])
  await server.cli('CONFIG', 'SET', 'maxmemory', used + 2 ** 20)
  for (let i = 0; await server.cli('SETRANGE', `filler-${i}`, FILLER_BYTES, 'x').catch(() => ''); i++);
  await pause(1500)
  await server.cli('CONFIG', 'SET', 'maxmemory', 0)
  await server.cli('EVAL', "return redis.call('DEL', unpack(redis.call('KEYS', 'filler-*')))", 0)
}

type SentinelStage = Stage & { promoted(): Promise<void> }

const failover: Fault<SentinelStage> = {
  name: 'failover',
  losses: 1,
  async inflict({ server, promoted }) {
    await server.kill('SIGKILL')
    await promoted()
  },
}

/** A master with a replica, which takes over when the master is killed. */
const onSentinel = (store: string, kind: 'sentinel' | 'sentinel-6'): Scene<SentinelStage> => ({
  store,
  faults: [failover],
  async start() {
    const group = await startRedisSentinel()
    const sentinels = group.sentinels.map(({ host, port }) => ({ host, port }))
    return {
      target: { kind, name: group.name, sentinels },
      proxy: await startProxy(group.master),
      server: group.master,
      isUsedUp: true,
      promoted: () => group.promoted(group.replica),
      answers: () => group.replica.cli('PING'),
      stop: () => group.stop(),
    }
  },
})

export const sentinel = onSentinel('redis', 'sentinel')
export const sentinel6 = onSentinel('redis-6', 'sentinel-6')

type ClusterStage = Stage & { converge(): Promise<void> }

const nodeLost: Fault<ClusterStage> = {
  name: 'node lost',
  losses: 1,
  async inflict({ server, converge }) {
    await server.kill('SIGKILL')
    await pause(1000) // until the others have seen it
    await converge()
  },
}

/** Three masters, each with a replica that takes over when its master is killed. */
const onCluster = (kind: 'cluster' | 'cluster-6'): Scene<ClusterStage> => ({
  store: kind,
  faults: [nodeLost],
  async start() {
    const group = await startRedisCluster({ replicasPerNode: 1, nodeTimeoutMs: 1000 })
    const [server] = group.nodes
    if (server === undefined) throw new Error('The cluster has no node.')
    return {
      target: { kind, nodes: group.nodes.map(({ host, port }) => ({ host, port })) },
      proxy: await startProxy(server),
      server,
      isUsedUp: true,
      converge: () => group.converge(),
      answers: () => group.converge(),
      stop: () => group.stop(),
    }
  },
})

export const cluster = onCluster('cluster')
export const cluster6 = onCluster('cluster-6')
