import type { State } from '../../../policies/policy.js'
import { wrongUse } from '../../../util/validate.js'
import type { Store } from '../../store.js'
import { NEARLY_FRESH } from '../clock-hand.js'
import { KeyHash } from '../key-hash.js'
import type { StateTable } from '../state-table.js'
import { readDumpable } from './dump-memory.js'
import { DumpedTable } from './dumped-table.js'
import { type Dump, damagedError, readDump, STATE_WORDS } from './format.js'
import { reservePages } from './reserve-pages.js'

const OWNER = 'restoreMemory'

/**
 * Continues with the counts that `dumpMemory` returned in an earlier process. Call it before the first
 * charge.
 *
 * The time between the two processes counts as elapsed, by the system clock. If that clock was set back
 * meanwhile, no time counts as elapsed. Expired states are left out.
 *
 * Throws a `TypeError` and changes nothing in these cases:
 *
 * - The bytes are damaged, incomplete, in another format, or not a dump.
 * - The store is already in use, or has too little room.
 *
 * To start with an empty store instead, catch the error.
 *
 * @example
 * ```ts
 * import { existsSync, readFileSync, renameSync } from 'node:fs'
 * import { memoryStore, restoreMemory } from 'headgate'
 *
 * const store = memoryStore()
 * const file = '/var/lib/app/limits'
 * if (existsSync(file)) {
 *   renameSync(file, `${file}.used`) // restore it only once
 *   restoreMemory(store, readFileSync(`${file}.used`))
 * }
 * ```
 */
export function restoreMemory(store: Store, bytes: Uint8Array): void {
  const dumpable = readDumpable(OWNER, store)
  const { table, overflow, documents } = dumpable.states
  if (table.keyHash.secret !== undefined || table instanceof DumpedTable || documents.size > 0)
    throw wrongUse(OWNER, 'the store is in use', 'Restore it before the first charge, and only once.')
  const dump = readDump(OWNER, bytes)
  const { times, secret, text } = dump
  const systemMs = dumpable.systemNow()
  const nowMs = times.nowMs + Math.max(0, systemMs - times.systemMs)
  const live = liveStates(dump, table, nowMs, systemMs - nowMs)
  if (live.length > table.maxKeys) {
    const problem = `the dump has ${live.length} keys, but maxKeys of the store is ${table.maxKeys}`
    throw wrongUse(OWNER, problem, 'Raise maxKeys.')
  }
  const highs = live.map((word) => dump.words[word + 1] as number)
  if (!reservePages(table.pages, highs)) throw damagedError(OWNER)
  dumpable.setNow(nowMs)
  table.epochMs = times.epochMs
  table.keyHash = new KeyHash(secret)
  addStates(dump, table, live)
  const others: { overflow: [string, State][]; documents: [string, string][] } = JSON.parse(text)
  for (const [key, state] of others.overflow) overflow.set(key, state)
  for (const [key, documentText] of others.documents)
    void store.documents?.replace(key, documentText, undefined)
}

/**
 * Returns the positions, in the words, of the states that are not fresh yet. The store's own clock cannot
 * say yet how far the system clock is ahead.
 */
function liveStates(
  { words, floats, statesAt, states, times }: Dump,
  table: StateTable,
  nowMs: number,
  aheadMs: number,
): Int32Array {
  const live = new Int32Array(states)
  let count = 0
  for (let i = 0; i < states; i++) {
    const word = statesAt + STATE_WORDS * i
    const share = table.shareOf(
      floats[word + 6] as number,
      words[word + 7] as number,
      nowMs - times.epochMs,
      aheadMs,
    )
    if (share <= NEARLY_FRESH) live[count++] = word
  }
  return live.subarray(0, count)
}

/** Adds the states at these positions, in the order of the dump, which is that of the pages before. */
function addStates(dump: Dump, table: StateTable, live: Int32Array): void {
  const { words, numbers } = dump
  const pageOf = (word: number) => table.pages.pageOf(words[word + 1] as number)
  forEachState(dump, live, (word, _, length) => {
    if (length > 0) pageOf(word).expectWide(length)
  })
  forEachState(dump, live, (word, start, length) => pageOf(word).load(words, word, numbers, start, length))
  table.size = live.length
}

/** Calls back with the position of each of these states, and with where its numbers are if it is wide. */
function forEachState(
  { numbers, statesAt, doublesAt, states }: Dump,
  live: Int32Array,
  call: (word: number, start: number, length: number) => void,
): void {
  let found = 0
  let double = doublesAt
  for (let i = 0; i < states; i++) {
    const word = statesAt + STATE_WORDS * i
    const isWide = Number.isNaN(numbers[word / 2 + 2])
    const length = isWide ? (numbers[double++] as number) : 0
    if (word === live[found]) {
      call(word, double, length)
      found++
    }
    double += length
  }
}
