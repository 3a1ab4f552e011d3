import assert from 'node:assert/strict'
import { Redis } from 'ioredis'
import { startRedis } from '../servers/redis.js'
import type { RedisStoreName } from './contenders/redis-stores.js'
import { startChild } from './harness/child.js'
import { measureRedis } from './harness/redis-usage.js'
import { type Round, takeTurns } from './harness/rounds.js'
import type { CallerUsage } from './redis-child.js'
import {
  type Figures,
  NAMES,
  PEERS,
  printResults,
  type Results,
  WORKLOADS,
  type WorkloadName,
} from './redis-tables.js'

const HEAP_MB = 1_000

/** The Redis stores on one server: each in a process of its own with a client of its own, in turns. */
export async function benchRedis(): Promise<void> {
  const server = await startRedis({ own: true })
  const watcher = new Redis(server.url)
  try {
    const results = {
      'many keys': await compare('many keys', watcher, server.url),
      'one key': await compare('one key', watcher, server.url),
      'one caller': await compare('one caller', watcher, server.url),
    }
    printResults(results)
  } finally {
    watcher.disconnect()
    await server.stop()
  }
}

async function compare(workload: WorkloadName, watcher: Redis, url: string): Promise<Results[WorkloadName]> {
  const { warmUps, rounds: count } = WORKLOADS[workload]
  await watcher.flushall()
  const module = new URL('./redis-child.ts', import.meta.url)
  const args = [url, JSON.stringify(WORKLOADS[workload])]
  const children = NAMES.map((name) => ({ name, child: startChild(module, [name, ...args], HEAP_MB) }))
  try {
    for (let i = 0; i < warmUps; i++) {
      for (const { child } of children) await child.ask({ do: 'round' }) // for the compiler, and to have all keys there
    }
    const contenders = children.map(({ name, child }): [RedisStoreName, Round<Figures>] => [
      name,
      () => measuredRound(name, workload, () => child.ask<CallerUsage>({ do: 'round' }), watcher),
    ])
    const rounds = Object.fromEntries(contenders) as Record<RedisStoreName, Round<Figures>>
    const results = await takeTurns<RedisStoreName, Figures>(rounds, count)
    for (const { child } of children) await child.ask({ do: 'check' })
    return results
  } finally {
    for (const { child } of children) child.end()
  }
}

async function measuredRound(
  name: RedisStoreName,
  workload: WorkloadName,
  round: () => Promise<CallerUsage>,
  watcher: Redis,
): Promise<Figures> {
  const { callers, decisions } = WORKLOADS[workload]
  const redisUsage = await measureRedis(watcher)
  const figures = { ...(await round()), ...(await redisUsage()) }
  if (callers === 1 || PEERS.includes(name)) {
    assert.equal(figures.scripts, decisions, `${name}: not every decision was one call`)
  }
  assert.ok(figures.scripts >= decisions / callers, `${name}: decisions were made without Redis`)
  return figures
}
