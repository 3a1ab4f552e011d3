import { callback, readOptions } from '../../options/option-table.js'
import { readTogether } from '../../options/problems.js'
import { remoteStore } from '../../pipe/remote-store.js'
import { optimisticTransactions } from '../builders/optimistic-store.js'
import { plainKey } from '../shared/hash-key.js'
import type { Store } from '../store.js'
import { type DenoKv, type KvKey, readKv } from './client.js'
import { type KvVersion, kvCommit, storedIn } from './commit.js'
import { kvDocuments } from './documents.js'
import { isLocked, kvError } from './errors.js'

/** Options of `denoKvStore`. */
export interface DenoKvStoreOptions {
  /** Returns milliseconds since the Unix epoch, for tests. Default: `Date.now`. */
  clock?: () => number
}

const OPTIONS = { rows: { clock: callback<() => number> } }

/** Deno KV reads at most ten keys in one call. */
const KEYS_PER_READ = 10
/** Deno Deploy's KV may be in another region than the isolate. */
const TIMEOUT_MS = 1000

/** Returns the key in Deno KV. A transaction takes at most 100 keys, of 80 KiB in all. */
const kvKey = (key: string): KvKey => ['headgate', plainKey(key)]

/**
 * Creates a store that keeps states in Deno KV: a file that the processes of one machine share, or the KV of
 * Deno Deploy.
 *
 * - **Technique.** Optimistic transactions. All operations that arrive together share one read and one
 *   commit. If another process has written one of the keys meanwhile, the commit fails. It is then retried
 *   in halves that share no key, for up to two seconds. After that, the operations fail with a `StoreError`.
 * - **Atomicity.** A charge of several keys, at most 100, takes all of its units in one moment, or none.
 * - **Lost replies.** A commit counts once, even if Deno resends it because its reply was lost.
 * - **Clock.** This process's. Synchronize the clocks of all machines to within a second.
 * - **Expiry.** Deno removes a key at least a minute after none of its units are in use.
 * - **Keys.** `['headgate', key]`.
 * - **KV.** `kv` is what `Deno.openKv()` resolves with. The store never closes it.
 *
 * Throws a `TypeError` if `kv` is anything else, and for wrong options.
 *
 * @example
 * ```ts
 * import { rateLimit } from 'headgate/fetch'
 * import { denoKvStore } from 'headgate/deno-kv'
 *
 * declare const Deno: { openKv(): Promise<Parameters<typeof denoKvStore>[0]> } // Deno has it
 *
 * export async function limits() {
 *   const store = denoKvStore(await Deno.openKv())
 *   return rateLimit({ name: 'api', limit: 100, window: '1m', store })
 * }
 * ```
 */
export function denoKvStore(kv: DenoKv, options: DenoKvStoreOptions = {}): Store {
  const [checked, { clock }] = readTogether(
    'denoKvStore',
    () => readKv(kv),
    () => readOptions('denoKvStore', options, OPTIONS),
  )

  async function read(keys: readonly string[]) {
    const parts: KvKey[][] = []
    for (let start = 0; start < keys.length; start += KEYS_PER_READ)
      parts.push(keys.slice(start, start + KEYS_PER_READ).map(kvKey))
    const entries = await Promise.all(parts.map((part) => checked.getMany(part)))
    return entries.flat().map(storedIn)
  }

  return remoteStore(
    optimisticTransactions<KvVersion>({
      name: 'deno-kv',
      defaultTimeoutMs: TIMEOUT_MS,
      read,
      commit: kvCommit(checked, kvKey),
      isTemporary: isLocked,
      toStoreError: kvError,
      ...(clock && { clock }),
      origin: { client: checked },
      documents: kvDocuments(checked, kvKey),
    }),
  )
}
