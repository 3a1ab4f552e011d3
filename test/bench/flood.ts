import assert from 'node:assert/strict'
import type { Flooded } from './flood-child.js'
import { startChild } from './harness/child.js'
import { printTable, whole } from './harness/table.js'

const ADDRESSES = 10_000_000
const MAX_KEYS = 1_000_000
/** Of each client, in a day: of a limited one, no token comes back in a run. */
const LIMIT = 100
const HEAP_MB = 2_000
const MEBIBYTE = 2 ** 20
/** What a full store may take, and the garbage of requests between two collections. */
const MOST_BYTES = 60 * MAX_KEYS + 64 * MEBIBYTE

/**
 * Addresses that never come twice, against a memory store: what becomes of memory, and of everybody else.
 */
export async function benchFlood(): Promise<void> {
  const child = startChild(
    new URL('./flood-child.ts', import.meta.url),
    [ADDRESSES, MAX_KEYS, LIMIT].map(String),
    HEAP_MB,
  )
  try {
    show(await child.ask<Flooded>({}))
  } finally {
    await child.end()
  }
}

function show({ before, during, grownBytes, held, limitedAllowed, limitedDenied }: Flooded): void {
  printTable(
    `${whole(ADDRESSES)} IPv6 networks, once each, to a memory store of ${whole(MAX_KEYS)} keys: ` +
      'microseconds per request of a normal client',
    ['', 'requests', 'median', 'p99', 'p99.9', 'worst'],
    [
      ['before', ...before.map(micro)],
      ['during the flood', ...during.map(micro)],
    ],
  )
  console.log(
    `\n  resident memory grew by ${whole(grownBytes / MEBIBYTE)} MiB, of at most ${whole(MOST_BYTES / MEBIBYTE)}`,
  )
  console.log(`  keys held: ${whole(held)}`)
  console.log(
    `  limited clients: at most ${limitedAllowed} of ${LIMIT} allowed each, ${whole(limitedDenied)} denied`,
  )
  assert.ok(grownBytes <= MOST_BYTES, 'memory is not bounded')
  assert.ok(held <= MAX_KEYS, 'there are more keys than allowed')
  assert.equal(limitedAllowed, LIMIT, 'a limited client was let through')
}

function micro(value: number, i: number): string {
  return i === 0 ? whole(value) : value.toFixed(1)
}
