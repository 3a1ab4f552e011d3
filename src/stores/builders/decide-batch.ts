import type { Policy } from '../../policies/policy.js'
import type { Operation, Result } from '../operation.js'
import { applyBatch, type Writes } from '../shared/apply-batch.js'
import { foreignKeyError, isStateOf } from '../shared/state-codec.js'
import { type StateWrite, stateWrite } from '../shared/state-write.js'

/** What a transaction reads after it has locked its keys. */
export interface LockedStates {
  /**
   * What `write` wrote, by key. A missing key has no entry. If an entry is anything else, the operations on
   * the key fail.
   */
  readonly states: ReadonlyMap<string, unknown>
  /**
   * The time in milliseconds since the Unix epoch, by one clock for all processes, such as the database's.
   * Read it after all keys are locked, so that decisions on a key have ascending times.
   */
  readonly nowMs: number
}

/** A state for a transaction to write. */
export interface TransactionWrite extends StateWrite {
  /** The policy that reads the state. */
  readonly policy: Policy
  /** When the state may be dropped, in milliseconds since the Unix epoch, or `Infinity`. */
  readonly expiresAtMs: number
  /**
   * Whether the key was missing when it was read. If the database cannot lock a missing row, insert the row
   * by a statement that fails if another transaction has inserted it meanwhile. Let `isDuplicate` recognize
   * the error.
   */
  readonly isNew: boolean
}

/** The results of operations, in order, and the states to write. */
export interface DecidedBatch {
  readonly results: readonly (Result | Error)[]
  readonly writes: readonly TransactionWrite[]
}

/**
 * Applies operations to the states that a transaction has read. The operations on a key that holds anything
 * but a state of its policy fail, and so do those on a key that holds an error.
 */
export function decideBatch(
  name: string,
  operations: readonly Operation[],
  read: LockedStates,
  storageKey: (key: string) => string,
): DecidedBatch {
  const { states, nowMs } = read
  const { results, writes } = applyBatch(
    operations,
    (key, policy) => {
      const stored = storageKey(key)
      const state = states.get(stored)
      if (isStateOf(policy, state)) return state
      if (state instanceof Error) throw state
      if (states.has(stored)) throw foreignKeyError(name, key)
      return undefined
    },
    nowMs,
  )
  return { results, writes: transactionWrites(writes, read, storageKey) }
}

/** Returns the writes in the order of their keys, without those that would change nothing. */
function transactionWrites(
  writes: Writes,
  { states, nowMs }: LockedStates,
  storageKey: (key: string) => string,
): TransactionWrite[] {
  const changes: TransactionWrite[] = []
  for (const [name, write] of writes) {
    const key = storageKey(name)
    const isNew = !states.has(key)
    const { state, ttlMs, keepsExpiry } = stateWrite(key, write, nowMs)
    if (state === undefined ? isNew : state === states.get(key)) continue
    const change = { key, policy: write.policy, state, ttlMs, expiresAtMs: nowMs + ttlMs, isNew }
    changes.push(keepsExpiry ? { ...change, keepsExpiry } : change)
  }
  return changes.sort((a, b) => (a.key < b.key ? -1 : 1))
}
