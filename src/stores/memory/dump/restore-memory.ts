import type { State } from '../../../policies/policy.js'
import { wrongUse } from '../../../util/validate.js'
import type { Store } from '../../store.js'
import { NEARLY_FRESH } from '../clock-hand.js'
import { KeyHash } from '../key-hash.js'
import type { StateTable } from '../state-table.js'
import { readDumpable } from './dump-memory.js'
import { type Dump, readDump } from './format.js'

const OWNER = 'restoreMemory'
/** A prime above `maxKeys`, so that steps of this length visit each state once. */
const STRIDE = 1_000_000_007

/**
 * Continues with the counts that `dumpMemory` returned in an earlier process. Call it before the first
 * charge. The time between the two processes counts as elapsed, by the system clock. If the clock was set
 * back meanwhile, no time counts as elapsed. Expired states are left out.
 *
 * Throws a `TypeError` and changes nothing in these cases:
 *
 * - The bytes are damaged, incomplete, in another format, or not a dump.
 * - The store has charged before, or has too little room.
 *
 * To start with an empty store instead, catch the error.
 *
 * @example
 * ```ts
 * import { existsSync, readFileSync } from 'node:fs'
 * import { memoryStore, restoreMemory } from 'headgate'
 *
 * const store = memoryStore()
 * const path = '/var/lib/app/limits'
 * if (existsSync(path)) restoreMemory(store, readFileSync(path))
 * ```
 */
export function restoreMemory(store: Store, bytes: Uint8Array): void {
  const dumpable = readDumpable(OWNER, store)
  const { states, documents } = dumpable
  const { table, overflow } = states
  if (table.keyHash.secret !== undefined || dumpable.isDumped || documents.size > 0)
    throw wrongUse(OWNER, 'the store is in use', 'Restore it before the first charge, and only once.')
  const dump = readDump(OWNER, bytes)
  const { times, secret, text } = dump
  const systemMs = dumpable.systemNow()
  const nowMs = times.nowMs + Math.max(0, systemMs - times.systemMs)
  table.epochMs = times.epochMs
  const live = indexesOfLive(dump, table, nowMs, systemMs - nowMs)
  if (live.length > table.maxKeys) {
    const problem = `the dump has ${live.length} keys, but maxKeys of the store is ${table.maxKeys}`
    throw wrongUse(OWNER, problem, 'Raise maxKeys.')
  }
  dumpable.setNow(nowMs)
  table.keyHash = new KeyHash(secret)
  addStates(dump, table, live)
  const others: { overflow: [string, State][]; documents: [string, string][] } = JSON.parse(text)
  for (const [key, state] of others.overflow) overflow.set(key, state)
  for (const [key, documentText] of others.documents)
    void store.documents?.replace(key, documentText, undefined)
}

/**
 * Returns the positions, in the words, of the states that are not fresh yet. The store's own clock cannot say
 * yet how far the system clock is ahead.
 */
function indexesOfLive(
  { words, floats, statesAt, states }: Dump,
  table: StateTable,
  nowMs: number,
  aheadMs: number,
): number[] {
  const live: number[] = []
  for (let i = 0; i < states; i++) {
    const word = statesAt + 8 * i
    const share = table.shareOf(floats[word + 6] as number, words[word + 7] as number, nowMs, aheadMs)
    if (share <= NEARLY_FRESH) live.push(word)
  }
  return live
}

function addStates(dump: Dump, table: StateTable, live: readonly number[]): void {
  const { words, floats, numbers } = dump
  const unpacked = unpackedStates(dump)
  // The dump has the order of the hashes. In that order, the states would pile up in a few long runs.
  for (let i = 0, at = 0; i < live.length; i++, at = (at + STRIDE) % live.length) {
    const word = live[at] as number
    const state = unpacked.get(word) ?? [numbers[word / 2 + 1] as number, numbers[word / 2 + 2] as number]
    const high = words[word + 1] as number
    const page = table.pages.pageWithRoom(high)
    page.write(
      page.add(high, words[word] as number),
      state,
      floats[word + 6] as number,
      words[word + 7] as number,
    )
    table.size++
  }
}

/** Returns the states that are not two numbers, by the positions of their slots in the words. */
function unpackedStates({ numbers, statesAt, states, doublesAt }: Dump): Map<number, State> {
  const unpacked = new Map<number, State>()
  let double = doublesAt
  for (let word = statesAt; word < statesAt + 8 * states; word += 8) {
    if (!Number.isNaN(numbers[word / 2 + 2])) continue
    const length = numbers[double++] as number
    unpacked.set(word, Array.from(numbers.subarray(double, double + length)))
    double += length
  }
  return unpacked
}
