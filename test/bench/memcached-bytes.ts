import assert from 'node:assert/strict'
import type { Policy } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { Client } from 'memjs'
import { type MemcachedServer, startMemcached } from '../support/servers/memcached.js'
import { readStats } from './harness/memcached-usage.js'
import { printTable, whole } from './harness/table.js'
import { growthPerKey, ITEMS, KEYS, POLICIES } from './server-bytes.js'

/**
 * What memcached takes per key: an item lies in a chunk of fixed size, and the chunks are what fills its
 * memory.
 */
export async function benchMemcachedBytes(): Promise<void> {
  const server = await startMemcached({ own: true })
  try {
    const version = (await readStats(server)).get('version')
    const rows: string[][] = []
    for (const [name, policy] of Object.entries(POLICIES)) {
      await server.restart() // a flush leaves the chunks in use for a while
      rows.push([name, ...(await measure(server, policy))])
    }
    printTable(
      `memcached ${version}, growth of the chunks in use for ${whole(KEYS)} keys, each charged once`,
      ['policy', 'value, bytes', 'key, bytes', 'bytes per key'],
      rows,
    )
  } finally {
    await server.stop()
  }
}

async function measure(server: MemcachedServer, policy: Policy): Promise<string[]> {
  const client = Client.create(server.url)
  try {
    const growth = await growthPerKey(
      memcachedStore(client),
      policy,
      async () => (await chunksOf(server)).bytes,
    )
    assert.equal(Number((await readStats(server)).get('curr_items')), ITEMS, 'one item for each address')
    const { keyLength, valueLength } = await itemIn(server, (await chunksOf(server)).fullest)
    return [valueLength, keyLength, growth].map(whole)
  } finally {
    client.close()
  }
}

/** How many bytes the chunks take that are in use, and which class of them has the most. */
async function chunksOf(server: MemcachedServer): Promise<{ bytes: number; fullest: string }> {
  const slabs = await readStats(server, 'slabs')
  let bytes = 0
  let fullest = ''
  const usedIn = (slab: string) => Number(slabs.get(`${slab}:used_chunks`) ?? 0)
  for (const name of slabs.keys()) {
    const [, slab] = /^(\d+):used_chunks$/.exec(name) ?? []
    if (slab === undefined) continue
    bytes += usedIn(slab) * Number(slabs.get(`${slab}:chunk_size`))
    if (usedIn(slab) > usedIn(fullest)) fullest = slab
  }
  return { bytes, fullest }
}

/** One of the items in a class of chunks. */
async function itemIn(server: MemcachedServer, slab: string) {
  const dump = await server.command(`stats cachedump ${slab} 1`)
  const [, key = '', bytes] = /^ITEM (hg:3:api:\S+) \[(\d+) b;/m.exec(dump) ?? []
  assert.ok(key, `memcached shows no item: ${dump}`)
  return { keyLength: key.length, valueLength: Number(bytes) }
}
