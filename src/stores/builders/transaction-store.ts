import { customStore } from '../../pipe/custom-store.js'
import { retry } from '../../util/retry.js'
import { type Charge, keysOf, type Operation, type Result } from '../operation.js'
import type { Run } from '../shared/run-operations.js'
import type { Store } from '../store.js'
import { asStoreError, asUnsent } from '../store-error.js'
import { builtStore } from './built-store.js'
import { type Attempt, type Results, transactionRunner } from './transaction-attempt.js'
import { readTransactionOptions, type TransactionOptions } from './transaction-options.js'

/**
 * Creates a store for a database with transactions that lock what they read.
 *
 * - **Technique.** Row lock: one transaction decides a whole batch. It locks the keys in the order of their
 *   names, which prevents deadlocks between batches. Then it reads their states, applies the operations,
 *   writes and commits.
 * - **Atomicity.** A charge of several keys takes all of its units in one moment, or none. If the database
 *   cannot lock a missing row, a key that another process has just created may still count as unused. That
 *   affects only the figures of a denied charge, and of a part that takes no units.
 * - **Retries.** A transaction that fails for a temporary reason is retried for up to two seconds. Then all
 *   operations of the batch fail.
 * - **Clock.** What `lockAndRead` returns.
 * - **Batches.** By default, batches in flight never share a key, so a process does not wait for its own
 *   locks. A custom `batching` without `locksKeys: true` turns this off.
 *
 * Throws a `TypeError` for wrong options.
 *
 * @example
 * ```ts
 * import { transactionStore } from 'headgate/store'
 *
 * const rows = new Map<string, unknown>() // stands for your database
 * const store = transactionStore<Map<string, unknown>>({
 *   name: 'rows',
 *   transaction: (run) => run(rows), // such as (run) => sequelize.transaction(run)
 *   lockAndRead: (locked) => ({ states: locked, nowMs: Date.now() }),
 *   write(locked, writes) {
 *     for (const { key, state } of writes) {
 *       if (state) locked.set(key, state)
 *       else locked.delete(key)
 *     }
 *   },
 * })
 * ```
 */
export function transactionStore<Transaction>(options: TransactionOptions<Transaction>): Store {
  readTransactionOptions(options)
  return customStore(rowLockStore(options))
}

/** Creates the store of `transactionStore`, without a check of the options or of the outcomes. */
export function rowLockStore<Transaction>(options: TransactionOptions<Transaction>): Store {
  const { name, batching = DEFAULT_BATCHING, chargeEach } = options
  const { isTemporary = never, isDuplicate = never, storageKey = (key: string) => key } = options
  const { toStoreError = (error: unknown) => asStoreError(name, error) } = options
  const mayRepeat = (error: unknown) => isTemporary(error) || isDuplicate(error)
  const transact = transactionRunner(options, storageKey)

  async function applyTogether(operations: readonly Operation[]): Promise<Results> {
    const names = new Set<string>()
    for (const operation of operations) for (const { key } of keysOf(operation)) names.add(storageKey(key))
    if (names.size === 0)
      return operations.map(() => ({ type: 'charge', allowed: true, atMs: Date.now(), parts: [] }))
    const keys = [...names].sort()
    let attempt: Attempt = { committable: 0, isOver: false }
    const tryOnce = async () => {
      attempt = { committable: 0, isOver: false }
      try {
        return await transact(operations, keys, attempt)
      } finally {
        attempt.isOver = true
      }
    }
    try {
      return await retry(tryOnce, { isTemporary: mayRepeat, isProgress: isDuplicate })
    } catch (error) {
      throw attempt.committable === 0 ? asUnsent(toStoreError(error)) : error
    }
  }

  /**
   * Returns the results of the operations that need no transaction, each at the operation's index. If these
   * fail, so do the others, which are then not sent.
   */
  async function applyEach(
    operations: readonly Operation[],
  ): Promise<readonly (Result | Error | undefined)[]> {
    const alone = chargeEach === undefined ? [] : chargesAlone(operations)
    if (chargeEach === undefined || alone.length === 0) return []
    const spread = (outcomes: ReadonlyMap<Operation, Result | Error | undefined>, others?: Error) =>
      operations.map((operation) => (outcomes.has(operation) ? outcomes.get(operation) : others))
    try {
      const results = await chargeEach(alone)
      if (alone.length === operations.length) return results
      return spread(new Map(alone.map((each, i) => [each, results[i]])))
    } catch (error) {
      if (mayRepeat(error)) return []
      if (alone.length === operations.length) throw error
      return spread(new Map(alone.map((each) => [each, toStoreError(error)])), asUnsent(toStoreError(error)))
    }
  }

  /** Applies the operations that were not decided alone. If some were, an error is theirs and no other's. */
  async function applyRest(operations: readonly Operation[], areSomeDecided: boolean): Promise<Results> {
    try {
      return await applyTogether(operations)
    } catch (error) {
      if (!areSomeDecided) throw error
      return operations.map(() => toStoreError(error))
    }
  }

  const run: Run = async (operations) => {
    try {
      const decided = await applyEach(operations)
      const others = operations.filter((_, i) => decided[i] === undefined)
      const rest = others.length === 0 ? [] : await applyRest(others, others.length < operations.length)
      let next = 0
      return operations.map((_, i) => {
        const result = decided[i] ?? (rest[next++] as Result | Error)
        return result instanceof Error ? toStoreError(result) : result
      })
    } catch (error) {
      throw toStoreError(error)
    }
  }
  return builtStore({ ...options, batching }, run)
}

/**
 * Returns the charges whose keys occur nowhere else in the batch, not even in another part of the charge.
 */
function chargesAlone(operations: readonly Operation[]): readonly Charge[] {
  const [only] = operations
  if (only?.type === 'charge' && operations.length === 1 && only.parts.length === 1) return [only]
  const counts = new Map<string, number>()
  for (const operation of operations)
    for (const { key } of keysOf(operation)) counts.set(key, (counts.get(key) ?? 0) + 1)
  const isAlone = (operation: Operation): operation is Charge =>
    operation.type === 'charge' &&
    operation.parts.length > 0 &&
    operation.parts.every(({ key }) => counts.get(key) === 1)
  return operations.filter(isAlone)
}

const DEFAULT_BATCHING = { maxKeys: 256, maxInFlight: 2, locksKeys: true }

const never = () => false
