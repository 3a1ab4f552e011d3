import { wrongKind, wrongUse } from '../../../util/validate.js'
import { isStore } from '../../shared/validate.js'
import type { Store } from '../../store.js'
import { NEARLY_FRESH } from '../clock-hand.js'
import { type Dumpable, dumpableOf } from '../dumpable.js'
import type { StateTable } from '../state-table.js'
import { DumpedDocuments, DumpedTable } from './dumped-table.js'
import { createDump, type Dump, STATE_WORDS, seal } from './format.js'

/**
 * Returns all counts of a memory store as bytes, for `restoreMemory` in the next process. It takes a few
 * milliseconds for each 10,000 keys.
 *
 * Close the server first, and await the requests in flight. After the dump, the store denies every charge,
 * with a retry time of one second, because the bytes would not contain that charge.
 *
 * Keep the bytes confidential. They contain no keys, but they contain the secret with which keys are hashed,
 * and documents such as settings.
 *
 * Throws a `TypeError` for any other store, and for a store that has already been dumped.
 *
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs'
 * import { dumpMemory, memoryStore } from 'headgate'
 *
 * const store = memoryStore()
 * export function save(path: string): void {
 *   writeFileSync(path, dumpMemory(store), { mode: 0o600 })
 * }
 * ```
 */
export function dumpMemory(store: Store): Uint8Array {
  const dumpable = readDumpable('dumpMemory', store)
  const { states } = dumpable
  const { table, overflow, documents } = states
  if (table instanceof DumpedTable)
    throw wrongUse('dumpMemory', 'the store has already been dumped', 'Dump it once, at the end.')
  const nowMs = dumpable.now()
  table.keyHash.hash('') // draws the secret
  const text = JSON.stringify({
    overflow: overflow.entries(),
    documents: Array.from(documents, ([key, document]) => [key, document.text]),
  })
  const times = { nowMs, systemMs: dumpable.systemNow(), epochMs: table.epochMs }
  const live = countLive(table, nowMs)
  const { secret = new Int32Array(4) } = table.keyHash
  const dump = createDump(live, secret, times, text)
  writeStates(dump, table, nowMs)
  states.table = new DumpedTable(table.maxKeys, () => 0)
  states.documents = new DumpedDocuments(documents)
  return seal(dump)
}

/** Returns the dumpable part of a store. Throws a `TypeError` if there is none. */
export function readDumpable(owner: string, store: unknown): Dumpable {
  const dumpable = isStore(store) ? dumpableOf(store) : undefined
  if (dumpable !== undefined) return dumpable
  const must = 'a memoryStore, or the clusterStore of a primary'
  const fix = 'Pass the store itself. Other stores keep their counts outside this process.'
  throw wrongKind(owner, 'store', must, store, fix)
}

/** Returns how many states are not fresh, and how many numbers those have that do not fit into a slot. */
function countLive(table: StateTable, nowMs: number): { states: number; doubles: number } {
  let states = 0
  let doubles = 0
  for (const page of table.pages.pages) {
    for (let slot = 0; slot < page.slots; slot++) {
      if (page.lowAt(slot) === 0 || table.shareAt(page, slot, nowMs) > NEARLY_FRESH) continue
      states++
      doubles += page.widthAt(slot)
    }
  }
  return { states, doubles }
}

function writeStates({ words, numbers, statesAt, doublesAt }: Dump, table: StateTable, nowMs: number): void {
  let word = statesAt
  let double = doublesAt
  for (const page of table.pages.pages) {
    for (let slot = 0; slot < page.slots; slot++) {
      if (page.lowAt(slot) === 0 || table.shareAt(page, slot, nowMs) > NEARLY_FRESH) continue
      page.save(slot, words, word)
      word += STATE_WORDS
      if (page.isWide(slot)) double = page.saveWide(slot, numbers, double)
    }
  }
}
