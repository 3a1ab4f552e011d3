import type { BytesPerKey } from './bytes-child.js'
import { STORES, type StoreName } from './contenders/stores.js'
import { startChild } from './harness/child.js'
import { printTable, ratio, whole } from './harness/table.js'

const KEYS = 1_000_000
const HEAP_MB = 2_000
const NAMES = Object.keys(STORES) as StoreName[]

/** What a store takes per key. It hardly varies between runs, so one process each is enough. */
export async function benchBytes(): Promise<void> {
  const sizes = new Map<StoreName, BytesPerKey>()
  for (const name of NAMES) sizes.set(name, await bytesPerKey(name))
  const of = (name: StoreName) => sizes.get(name) ?? { heap: Number.NaN, resident: Number.NaN }
  const rows = NAMES.map((name) => {
    const { heap, resident } = of(name)
    const against = (peer: StoreName) => (name.startsWith('headgate') ? ratio(heap, of(peer).heap) : '-')
    return [
      name,
      whole(heap),
      whole(resident),
      against('express-rate-limit'),
      against('rate-limiter-flexible'),
    ]
  })
  printTable(
    `Bytes per key at ${whole(KEYS)} keys, key strings left out, each in a fresh process`,
    ['contender', 'heap', 'resident', 'express-rate-limit /', 'rate-limiter-flexible /'],
    rows,
  )
}

async function bytesPerKey(name: StoreName): Promise<BytesPerKey> {
  const child = startChild(new URL('./bytes-child.ts', import.meta.url), [name, String(KEYS)], HEAP_MB)
  try {
    return await child.ask<BytesPerKey>({})
  } finally {
    child.end()
  }
}
