import { setTimeout as pause } from 'node:timers/promises'
import { startProxy } from '../../support/proxy.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { startRedisCluster } from '../../support/servers/redis-cluster.js'
import { startRedisSentinel } from '../../support/servers/redis-sentinel.js'
import { commonFaults, repeat } from './common-faults.js'
import { behindProxy, type Fault, type Scene, type Stage } from './stage.js'

type RedisStage = Stage & { readonly server: RedisServer }

const FILLER_BYTES = 64 * 1024

export const redis: Scene<RedisStage> = {
  store: 'redis',
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
      ({ host, port }) => ({ kind: 'redis', host, port }),
      () => server.cli('PING'),
      {},
    )
  },
}

/** Other data take all of the memory for a while. */
async function fillUp(server: RedisServer): Promise<void> {
  const used = Number(/used_memory:(\d+)/.exec(await server.cli('INFO', 'memory'))?.[1])
  await server.cli('CONFIG', 'SET', 'maxmemory', used + 2 ** 20)
  for (let i = 0; await server.cli('SETRANGE', `filler-${i}`, FILLER_BYTES, 'x').catch(() => ''); i++);
  await pause(1500)
  await server.cli('CONFIG', 'SET', 'maxmemory', 0)
  await server.cli('EVAL', "return redis.call('DEL', unpack(redis.call('KEYS', 'filler-*')))", 0)
}

const failover: Fault<Stage & { promoted(): Promise<void> }> = {
  name: 'failover',
  losses: 1,
  async inflict({ server, promoted }) {
    await server.kill('SIGKILL')
    await promoted()
  },
}

/** A master with a replica, which takes over when the master is killed. */
export const sentinel: Scene<Stage & { promoted(): Promise<void> }> = {
  store: 'redis',
  faults: [failover],
  async start() {
    const group = await startRedisSentinel()
    const sentinels = group.sentinels.map(({ host, port }) => ({ host, port }))
    return {
      target: { kind: 'sentinel', name: group.name, sentinels },
      proxy: await startProxy(group.master),
      server: group.master,
      isUsedUp: true,
      promoted: () => group.promoted(group.replica),
      answers: () => group.replica.cli('PING'),
      stop: () => group.stop(),
    }
  },
}

const nodeLost: Fault<Stage & { converge(): Promise<void> }> = {
  name: 'node lost',
  losses: 1,
  async inflict({ server, converge }) {
    await server.kill('SIGKILL')
    await pause(1000) // until the others have seen it
    await converge()
  },
}

/** Three masters, each with a replica that takes over when its master is killed. */
export const cluster: Scene<Stage & { converge(): Promise<void> }> = {
  store: 'cluster',
  faults: [nodeLost],
  async start() {
    const group = await startRedisCluster({ replicasPerNode: 1, nodeTimeoutMs: 1000 })
    const [server] = group.nodes
    if (server === undefined) throw new Error('The cluster has no node.')
    return {
      target: { kind: 'cluster', nodes: group.nodes.map(({ host, port }) => ({ host, port })) },
      proxy: await startProxy(server),
      server,
      isUsedUp: true,
      converge: () => group.converge(),
      answers: () => group.converge(),
      stop: () => group.stop(),
    }
  },
}
