import assert from 'node:assert/strict'
import type { Policy } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { startRedis } from '../support/servers/redis.js'
import { printTable, whole } from './harness/table.js'
import { growthPerKey, ITEMS, KEYS, POLICIES } from './server-bytes.js'

/** What Redis takes per key. */
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
  const growth = await growthPerKey(redisStore(client), policy, () => usedMemory(client))
  assert.equal(await client.dbsize(), ITEMS, 'not every address has a key')
  let key = ''
  while (!key.includes('{')) key = (await client.randomkey()) ?? '' // the document's key has no braces
  return [await client.strlen(key), key.length, growth].map(whole)
}

async function usedMemory(client: Redis): Promise<number> {
  const [bytes] = (await client.info('memory')).match(/(?<=^used_memory:)\d+/m) ?? []
  return Number(bytes)
}
