import { readTogether } from '../../options/problems.js'
import { isIsolate } from '../../platform.js'
import { isMemoryStore } from '../../stores/memory/contract.js'
import { isStore } from '../../stores/shared/validate.js'
import type { Store } from '../../stores/store.js'
import { wrongKind } from '../../util/validate.js'
import { readStore } from '../read-store.js'
import { leasedStore } from './leased-store.js'
import { leasesOf } from './leases.js'
import { type LeaseOptions, readLeaseOptions } from './options.js'

/**
 * Creates a store that leases units of hot keys from a remote store. It takes them a block at a time, and
 * consumes them in this process, without a promise and even while the remote store is down. All other
 * operations go to the remote store.
 *
 * - **Leased.** Charges of one limit, if the limit is at least 32 × `processes`, and its key is charged at
 *   least 8 units in `hold`. `consecutive`, `concurrency` and `ban` are not leased.
 * - **Unused units.** Up to a sixteenth of a limit may lie unused in some processes for a moment while
 *   others deny. Of a slow token bucket, it is up to an eighth, until the refill.
 * - **Sharing.** The limiters of one process should share one leased store. Each additional leased store
 *   counts as a process.
 *
 * All processes together never admit more than a limit, with these exceptions, each for up to a sixteenth of
 * the limit:
 *
 * - after a refund to a token bucket,
 * - after `reward`,
 * - after `forget` in one of several processes.
 *
 * Throws a `TypeError` for wrong options, for a store that needs no leases, and on isolates, such as Workers.
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * import { leased, rateLimit } from 'headgate'
 * import { redisStore } from 'headgate/redis'
 *
 * const redis = new Redis({ autoResendUnfulfilledCommands: false })
 * const store = leased(redisStore(redis), { processes: 4 })
 * const api = rateLimit({ name: 'api', limit: 10_000, window: '1m', store })
 * ```
 */
export function leased(store: Store, options: LeaseOptions = {}): Store {
  const [inner, settings] = readTogether(
    'leased',
    () => readInner(store),
    () => readLeaseOptions('leased', options),
  )
  const { origin = { client: inner }, documents } = inner // its keys are those of the inner store
  return {
    ...leasedStore(inner, settings),
    origin,
    ...(documents && { documents }),
  }
}

/** Returns a store whose units can be leased. Throws a `TypeError` for anything else. */
function readInner(store: unknown): Store {
  if (isIsolate()) {
    const problem = 'store must not be leased on isolates, such as Workers, where requests cannot share units'
    throw new TypeError(`leased: ${problem}. Give the limiter the store itself.`)
  }
  if (!isStore(store))
    throw wrongKind('leased', 'store', 'a store', store, 'Write leased(redisStore(client)).')
  if (isMemoryStore(store)) {
    const problem = 'store must be shared by several processes, got memoryStore()'
    throw new TypeError(`leased: ${problem}. Give the limiter memoryStore() itself: it takes no round trip.`)
  }
  if (leasesOf(store) !== undefined) {
    const problem = 'store must not be leased already'
    throw new TypeError(`leased: ${problem}. Lease the inner store once: leased(redisStore(client)).`)
  }
  return readStore('leased', 'store', store)
}
