import { callback, readOptions, requiredFunction } from '../../options/option-table.js'
import { customStore } from '../../pipe/custom-store.js'
import { senderTo } from '../../pipe/sender.js'
import { retry } from '../../util/retry.js'
import { keysOf, type Operation, type Outcome, type Result } from '../operation.js'
import { applyBy, itemsAt, type Run } from '../shared/run-operations.js'
import type { Batching, Store } from '../store.js'
import { asStoreError, type StoreError } from '../store-error.js'
import { builtStore, COMMON_ROWS, type CommonStoreOptions } from './built-store.js'
import { type OptimisticDatabase, optimisticAttempt } from './optimistic-attempt.js'
import { splitByKey } from './split-by-key.js'
import { contentionError } from './swap-loop.js'

/** Options of `optimisticStore`: what it needs from a database. */
export interface OptimisticOptions<Version>
  extends CommonStoreOptions,
    Pick<OptimisticDatabase<Version>, 'read' | 'commit'>,
    Partial<Pick<OptimisticDatabase<Version>, 'clock' | 'storageKey'>> {
  /** Returns whether `read` or `commit` failed without writing, and may succeed later. Default: never. */
  isTemporary?(error: unknown): boolean
  /** Returns the `StoreError` for an error of `read` or `commit`. Default: one with the same message. */
  toStoreError?(error: unknown): StoreError
}

/** A function, because bundlers would keep a constant with a spread, even for other stores. */
const optionTable = () => ({
  rows: {
    ...COMMON_ROWS,
    read: requiredFunction(
      'Write read: async (keys) => …, which returns { state, version } or undefined for each key.',
    ),
    commit: requiredFunction(
      'Write commit: async ({ checks, writes }) => …, which returns whether it wrote.',
    ),
    isTemporary: callback,
    toStoreError: callback,
    clock: callback,
    storageKey: callback,
  },
})

/**
 * One attempt at a time decides everything that has arrived meanwhile. Two would compete with the same
 * processes twice. After `stallTimeoutMs`, a slow attempt no longer delays operations on other keys.
 */
const DEFAULT_BATCHING: Batching = { maxKeys: 100, maxInFlight: 1, stallTimeoutMs: 10 }

/**
 * Creates a store for a database that reads several keys with their versions, and then writes only if none
 * of them has changed, such as etcd or Deno KV.
 *
 * - **Technique.** Optimistic transactions. One attempt reads the keys of a batch, applies its operations,
 *   and commits if no other process has written any of the keys meanwhile.
 * - **Conflicts.** Otherwise, the batch is retried in halves that share no key, until the contended key is
 *   alone and delays no other. Operations on that key are retried with backoff for up to two seconds. Then
 *   they fail with a `StoreError`.
 * - **Atomicity.** A charge of several keys takes all of its units in one moment, or none. If it takes
 *   nothing, nothing is committed.
 * - **Busy keys.** Operations that arrive during an attempt wait, and then share the next one. So a process
 *   never competes with itself.
 * - **Clock.** `clock`. The clocks of the processes must be less than a second apart.
 *
 * Throws a `TypeError` for wrong options.
 *
 * @example
 * ```ts
 * import { optimisticStore, type StoredState } from 'headgate/store'
 *
 * const rows = new Map<string, StoredState<object>>() // stands for your database
 * const store = optimisticStore<object>({
 *   name: 'rows',
 *   read: (keys) => keys.map((key) => rows.get(key)),
 *   commit({ checks, writes }) {
 *     if (checks.some(({ key, version }) => rows.get(key)?.version !== version)) return false
 *     for (const { key, state } of writes) {
 *       if (state) rows.set(key, { state, version: {} }) // each write has another version
 *       else rows.delete(key)
 *     }
 *     return true
 *   },
 * })
 * ```
 */
export function optimisticStore<Version>(options: OptimisticOptions<Version>): Store {
  readOptions('optimisticStore', options, optionTable())
  return customStore(optimisticTransactions(options))
}

/** Creates the store of `optimisticStore`, but checks neither the options nor the outcomes. */
export function optimisticTransactions<Version>(options: OptimisticOptions<Version>): Store {
  const { name, batching = DEFAULT_BATCHING, clock = Date.now, isTemporary = () => false } = options
  const { storageKey = (key: string) => key, read, commit } = options
  const { toStoreError = (error: unknown) => asStoreError(name, error) } = options
  const attempt = optimisticAttempt({ name, read, commit, clock, storageKey })
  const outcomesOf = (results: readonly (Result | Error)[]) =>
    results.map((result): Outcome => (result instanceof Error ? toStoreError(result) : result))

  /** Applies operations in one transaction, which is retried until it commits or two seconds have passed. */
  async function applyTogether(operations: readonly Operation[]): Promise<readonly Outcome[]> {
    const isFinal = (results: unknown) => results !== undefined
    const results = await retry(() => attempt(operations), { isFinal, isTemporary })
    if (results === undefined) throw contentionError(name, operations.flatMap(keysOf)[0]?.key ?? '')
    return outcomesOf(results)
  }

  /** Applies operations in one attempt. If another process has written, applies them in two halves. */
  async function applyOnce(
    operations: readonly Operation[],
    halves: readonly (readonly number[])[],
  ): Promise<readonly Outcome[]> {
    const results = await attempt(operations).catch((error) => {
      if (!isTemporary(error)) throw error
    })
    if (results !== undefined) return outcomesOf(results)
    const outcomes = new Array<Outcome>(operations.length)
    const applyHalf = async (indexes: readonly number[]) => {
      const ofHalf = await run(itemsAt(operations, indexes))
      for (const [i, index] of indexes.entries()) outcomes[index] = ofHalf[i] as Outcome
    }
    await Promise.all(halves.map(applyHalf))
    return outcomes
  }

  const run: Run = async (operations) => {
    const halves = splitByKey(operations)
    try {
      return await (halves === undefined ? applyTogether(operations) : applyOnce(operations, halves))
    } catch (error) {
      const failure = toStoreError(error)
      return operations.map(() => failure)
    }
  }

  const sender = senderTo(run, batching && { ...batching, locksKeys: true }, { store: name })
  const runShared: Run = (operations, settle) => {
    const send = async (operation: Operation, index: number) => {
      const outcome = await new Promise<Outcome>((resolve) => sender.send({ operation, settle: resolve }))
      settle?.(index, outcome)
      return outcome
    }
    return Promise.all(operations.map(send))
  }
  return {
    ...builtStore({ ...options, batching: false }, runShared), // the sender makes the batches
    apply: applyBy(`${name}Store`, runShared, { maxKeys: Number.POSITIVE_INFINITY }),
  }
}
