import { callback, readOptions, requiredFunction } from '../../options/option-table.js'
import { runByKey } from '../../pipe/by-key.js'
import { customStore } from '../../pipe/custom-store.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { show } from '../../util/validate.js'
import type { Store } from '../store.js'
import { builtStore, COMMON_ROWS, type CommonStoreOptions, maxKeysOf } from './built-store.js'
import { keyLoader } from './key-loader.js'
import { checkedRead, type ReadStored } from './stored-state.js'
import { type Swap, swapLoop } from './swap-loop.js'

/** Options of `compareAndSwapStore`: what it needs from a database. */
export interface CompareAndSwapOptions<Version> extends CommonStoreOptions {
  /**
   * Returns what the database holds under each key, in order. That is the state with its version, or
   * `undefined` if the key is missing or has expired. For a key that cannot be read, it is a `StoreError`.
   * The keys are distinct, and there are at most `batching.maxKeys`. If it throws, the operations on these
   * keys fail.
   */
  read: ReadStored<Version>
  /**
   * Writes a state, or removes the key, if the key still has the version that was read. Does so in one
   * atomic step of the database, and returns whether it did. If it throws, the operations on the key fail,
   * and may have been applied.
   */
  swap(swap: Swap<Version>): MaybePromise<boolean>
  /**
   * Returns the time in milliseconds since the Unix epoch, by one clock for all processes. Default:
   * `Date.now`.
   */
  clock?(): number
  /** Returns the key for the database, such as a hash of one that is too long. Default: the same key. */
  storageKey?(key: string): string
}

/** A function, because bundlers would keep a constant with a spread, even for other stores. */
const optionTable = () => ({
  rows: {
    ...COMMON_ROWS,
    read: requiredFunction(
      'Write read: async (keys) => …, which returns { state, version } or undefined for each key.',
    ),
    swap: requiredFunction(
      'Write swap: async ({ key, version, state, ttlMs }) => …, which returns whether it wrote.',
    ),
    clock: callback,
    storageKey: callback,
  },
})

/**
 * Creates a store for a database that can write a value only if it has not changed. The database compares a
 * version, an ETag, a revision or a conditional expression.
 *
 * - **Technique.** Compare-and-swap: a state is read, and written if its version is still the same.
 *   Otherwise the operation is retried with backoff for up to two seconds. Then it fails with a
 *   `StoreError`.
 * - **Busy keys.** Operations on one key that arrive meanwhile wait, and then share one read and one write.
 *   So a process never competes with itself, and a busy key costs each process one write at a time.
 * - **Several keys.** A charge of several keys is decided key by key. If a later key denies, the earlier ones
 *   are refunded. Until then, other charges may be denied for lack of those units. No limit is ever exceeded.
 * - **Clock.** `clock`. The clocks of the processes must be less than a second apart.
 *
 * Throws a `TypeError` for wrong options.
 *
 * @example
 * ```ts
 * import { compareAndSwapStore, type StoredState } from 'headgate/store'
 *
 * const rows = new Map<string, StoredState<object>>() // stands for your database
 * const store = compareAndSwapStore<object>({
 *   name: 'rows',
 *   read: (keys) => keys.map((key) => rows.get(key)),
 *   swap({ key, version, state }) {
 *     if (rows.get(key)?.version !== version) return false
 *     if (state) rows.set(key, { state, version: {} }) // each write has another version
 *     else rows.delete(key)
 *     return true
 *   },
 * })
 * ```
 */
export function compareAndSwapStore<Version>(options: CompareAndSwapOptions<Version>): Store {
  const { batching } = readOptions('compareAndSwapStore', options, optionTable())
  const { name, read, swap, clock = Date.now, storageKey = (key: string) => key } = options

  const readKey = keyLoader(checkedRead(read), maxKeysOf(batching))
  async function swapChecked(change: Swap<Version>): Promise<boolean> {
    const isWritten: unknown = await swap(change)
    if (typeof isWritten === 'boolean') return isWritten
    throw new TypeError(`swap must return true if it wrote, and false if not, got ${show(isWritten)}`)
  }

  const applyToKey = swapLoop<Version>(name, {
    async read(key) {
      const stored = await readKey(key)
      if (stored instanceof Error) throw stored
      return stored ?? undefined
    },
    swap: (change, settle, fail) => void swapChecked(change).then(settle, fail),
    now: clock,
  })
  return customStore(
    builtStore(
      { ...options, batching },
      runByKey(name, () => applyToKey, storageKey, clock),
    ),
  )
}
