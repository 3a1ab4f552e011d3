import assert from 'node:assert/strict'
import type { BytesPerKey } from './bytes-child.js'
import { STORES, type StoreName } from './contenders/stores.js'
import { startChild } from './harness/child.js'
import { printTable, ratio, whole } from './harness/table.js'

const KEY_COUNTS = [1_000_000, 10_000_000]
const HEAP_MB = 9_000 // the peers need it for ten million keys
const TIME_LIMIT_MS = 300_000
/**
 * The most heap of a token bucket, per key. Resident bytes vary too much for a bound: at ten million keys,
 * the collector keeps up to 25 more per key in some runs.
 */
const MOST_HEAP_BYTES = 50
const NAMES = Object.keys(STORES) as StoreName[]

/**
 * Measures the bytes of each store per key. Heap hardly varies between runs, so one process each is enough.
 */
export async function benchBytes(): Promise<void> {
  for (const keys of KEY_COUNTS) {
    const sizes = new Map<StoreName, BytesPerKey>()
    for (const name of NAMES) sizes.set(name, await bytesPerKey(name, keys))
    printTable(
      `Bytes per key at ${whole(keys)} keys, key strings left out, each in a fresh process`,
      ['contender', 'heap', 'resident', 'express-rate-limit /', 'rate-limiter-flexible /'],
      NAMES.map((name) => rowOf(name, sizes)),
    )
    const { heap } = sizes.get('headgate, token bucket') ?? NONE
    assert.ok(heap <= MOST_HEAP_BYTES, `a token bucket takes ${whole(heap)} bytes of heap`)
  }
}

/** Of a process that ran out of memory or time. */
const NONE: BytesPerKey = { heap: Number.NaN, resident: Number.NaN }

function rowOf(name: StoreName, sizes: ReadonlyMap<StoreName, BytesPerKey>): string[] {
  const { heap, resident } = sizes.get(name) ?? NONE
  if (Number.isNaN(heap)) return [name, 'fails', 'fails', '-', '-']
  const against = (peer: StoreName) => {
    const peers = sizes.get(peer) ?? NONE
    return name.startsWith('headgate') && !Number.isNaN(peers.resident)
      ? ratio(resident, peers.resident)
      : '-'
  }
  return [name, whole(heap), whole(resident), against('express-rate-limit'), against('rate-limiter-flexible')]
}

async function bytesPerKey(name: StoreName, keys: number): Promise<BytesPerKey> {
  const module = new URL('./bytes-child.ts', import.meta.url)
  const child = startChild(module, [name, String(keys)], HEAP_MB, TIME_LIMIT_MS)
  try {
    return await child.ask<BytesPerKey>({})
  } catch (error) {
    if (name.startsWith('headgate')) throw error
    console.log(`${name} at ${whole(keys)} keys: ${error instanceof Error ? error.message : error}`)
    return NONE
  } finally {
    await child.end()
  }
}
