import { callback, readOptions, withDefault } from '../../options/option-table.js'
import { show, whole } from '../../util/validate.js'
import type { Operation } from '../operation.js'
import { checkOperations } from '../shared/run-operations.js'
import type { MemoryStore } from './contract.js'
import { createMemory, DEFAULT_MAX_KEYS } from './create-memory.js'
import { setDumpable } from './dumpable.js'
import { memoryDocuments } from './memory-documents.js'

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** The most keys to hold at once, up to 100,000,000. Default 1,000,000. */
  maxKeys?: number
  /**
   * Returns milliseconds since the Unix epoch, for simulations and tests. Default: a clock that never steps.
   * Only a `quota` follows the system clock, which may step.
   */
  clock?: () => number
}

const OPTIONS = {
  rows: { maxKeys: withDefault(DEFAULT_MAX_KEYS, whole(1, 100_000_000)), clock: callback<() => number> },
  fixes: { max: 'maxKeys', size: 'maxKeys' },
}

/**
 * Creates a store in the memory of this process. It suits a single process and tests. Without the option
 * `store`, each limiter has its own.
 *
 * - **Synchronous.** A decision is one step without a promise. The store has no timers.
 * - **Memory.** A token bucket takes at most 50 bytes of heap. Memory grows and shrinks page by page,
 *   without a pause.
 * - **Keys are not kept.** States lie under 64-bit hashes of their keys. Each store hashes with a random
 *   secret, so no client can aim at another client's state. The odds that any two of ten million keys
 *   collide are one in 370,000.
 * - **When it is full.** At most `maxKeys` keys are held. Fresh states are removed first. Then the state
 *   nearest to fresh, among up to 32 examined, is evicted, but never that of a client at its limit. If there
 *   is none, new keys share one overflow bucket per limit. The process warning `HEADGATE_MEMORY_FULL`
 *   reports this once.
 *
 * Throws a `TypeError` for wrong options.
 *
 * @example
 * ```ts
 * import { memoryStore, rateLimit } from 'headgate'
 *
 * const store = memoryStore({ maxKeys: 100_000 })
 * const api = rateLimit({ name: 'api', limit: 100, window: '1m', store })
 * const search = rateLimit({ name: 'search', limit: 10, window: '1m', store })
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { maxKeys, clock } = readOptions('memoryStore', options, OPTIONS)
  const check = (operations: readonly Operation[]) => void checkOperations('memoryStore', operations)
  const { store, dumpable } = createMemory({ maxKeys, clock: clock && validateClock(clock), check })
  setDumpable(store.apply, dumpable)
  return Object.assign(store, { documents: memoryDocuments(dumpable.states) })
}

/** Throws if a user's clock returns nonsense, which would leave states that deny forever. */
function validateClock(clock: () => number): () => number {
  return () => {
    const nowMs = clock()
    if (Number.isFinite(nowMs)) return nowMs
    throw new TypeError(`memoryStore: clock must return milliseconds, got ${show(nowMs)}.`)
  }
}
