import type { State } from '../../../policies/policy.js'
import { wrongUse } from '../../../util/validate.js'
import type { Store } from '../../store.js'
import { NEARLY_FRESH } from '../clock-hand.js'
import { KeyHash } from '../key-hash.js'
import type { StateTable } from '../state-table.js'
import { readDumpable } from './dump-memory.js'
import { type Dump, readDump } from './format.js'

const OWNER = 'restoreMemory'
/** The golden ratio less 1. Places that are this share of a range apart never come close to each other. */
const GOLDEN = (Math.sqrt(5) - 1) / 2

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
  const { epochMs } = table
  table.epochMs = times.epochMs
  const live = indexesOfLive(dump, table, nowMs, systemMs - nowMs)
  if (live.length > table.maxKeys) {
    table.epochMs = epochMs
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
  const { words, floats, statesAt } = dump
  const doublesAt = doublesOfStates(dump)
  // The dump has the order of the hashes, and the table must always hold hashes of all parts of the range: a
  // page that is split leaves room for half of its states.
  const stride = strideOf(live.length)
  for (let i = 0, at = 0; i < live.length; i++, at = (at + stride) % live.length) {
    const word = live[at] as number
    const state = stateAt(dump, word, doublesAt[(word - statesAt) / 8] as number)
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

/** Returns a step that visits each of `count` places once, and all parts of them evenly at any time. */
function strideOf(count: number): number {
  let stride = Math.max(1, Math.round(GOLDEN * count))
  while (greatestDivisor(stride, count) !== 1) stride++
  return stride
}

/** Returns the greatest common divisor of two numbers, by Euclid's algorithm. */
function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}

/** Returns the state in a slot, which has its numbers among the doubles if it is not two numbers. */
function stateAt({ numbers }: Dump, word: number, doubleAt: number): State {
  if (doubleAt === 0) return [numbers[word / 2 + 1] as number, numbers[word / 2 + 2] as number]
  const length = numbers[doubleAt] as number
  return Array.from(numbers.subarray(doubleAt + 1, doubleAt + 1 + length))
}

/** Returns where the doubles of each state begin, with their length. 0 for a state of two numbers. */
function doublesOfStates({ numbers, statesAt, states, doublesAt }: Dump): Int32Array {
  const positions = new Int32Array(states)
  let double = doublesAt
  for (let i = 0; i < states; i++) {
    if (!Number.isNaN(numbers[(statesAt + 8 * i) / 2 + 2])) continue
    positions[i] = double
    double += 1 + (numbers[double] as number)
  }
  return positions
}
