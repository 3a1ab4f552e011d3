import assert from 'node:assert/strict'
import {
  byIp,
  consecutive,
  createLimiter,
  fixedWindow,
  type Limiter,
  type Policy,
  redisStore,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { Redis } from 'ioredis'
import { startRedis } from '../servers/redis.js'
import { keyText } from './contenders/keys.js'
import { printTable, whole } from './harness/table.js'

const KEYS = 100_000
const TOGETHER = 1000

/** With windows that do not end in a run. */
const POLICIES: Readonly<Record<string, Policy>> = {
  tokenBucket: tokenBucket({ capacity: 100, refill: 100, every: '1d' }),
  'slidingWindow, 10 slices': slidingWindow({ limit: 100, window: '1d' }),
  fixedWindow: fixedWindow({ limit: 100, window: '100d' }),
  consecutive: consecutive({ limit: 100 }),
}

/** What Redis takes per key, for keys as a limiter by address makes them: one charge of each of 100,000 addresses. */
export async function benchRedisBytes(): Promise<void> {
  const server = await startRedis({ own: true })
  const client = new Redis(server.url, { autoResendUnfulfilledCommands: false })
  try {
    const [version] = (await client.info('server')).match(/(?<=redis_version:)\S+/) ?? []
    const rows: string[][] = []
    for (const [name, policy] of Object.entries(POLICIES))
      rows.push([name, ...(await measure(client, policy))])
    printTable(
      `Redis ${version}, growth of used_memory for ${whole(KEYS)} keys, each charged once`,
      ['policy', 'value, bytes', 'key, bytes', 'bytes per key'],
      rows,
    )
  } finally {
    client.disconnect()
    await server.stop()
  }
}

async function measure(client: Redis, policy: Policy): Promise<string[]> {
  await client.flushall('SYNC')
  const store = redisStore(client)
  const limiter = createLimiter<object>({ name: 'api', store, policy, key: byIp(), timeoutMs: 60_000 })
  await chargeAll(limiter, 0, 1) // the server keeps the script from now on
  const before = await usedMemory(client)
  await chargeAll(limiter, 1, KEYS)
  const grown = (await usedMemory(client)) - before
  assert.equal(await client.dbsize(), KEYS, 'not every address has a key')
  const key = (await client.randomkey()) ?? ''
  return [await client.strlen(key), key.length, grown / (KEYS - 1)].map(whole)
}

async function chargeAll(limiter: Limiter<object>, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i += TOGETHER) {
    const addresses = Array.from({ length: Math.min(TOGETHER, to - i) }, (_, j) => keyText(i + j))
    const charges = addresses.map((remoteAddress) => limiter.charge({ socket: { remoteAddress } }))
    for (const { source, remaining } of await Promise.all(charges)) {
      assert.ok(source === 'store' && remaining === 99, 'a charge was not counted in Redis')
    }
  }
}

async function usedMemory(client: Redis): Promise<number> {
  const [bytes] = (await client.info('memory')).match(/(?<=^used_memory:)\d+/m) ?? []
  return Number(bytes)
}
