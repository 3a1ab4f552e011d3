import { readTogether } from '../../options/problems.js'
import { wrongKind } from '../../util/validate.js'
import { isMemoryStore } from '../memory/contract.js'
import { isStore } from '../shared/validate.js'
import type { Store } from '../store.js'
import { leasedStore } from './leased-store.js'
import { type LeaseOptions, readLeaseOptions } from './options.js'

/**
 * Creates a store that leases units of hot keys: it takes them from a remote store a block at a time, and
 * consumes them in this process, without a promise and even while the remote store is down. Everything else
 * goes to that store.
 *
 * - All processes together never admit more than a limit, except for up to a sixteenth after a refund to a
 *   token bucket, after `reward`, or after `forget` in one of several processes.
 * - Up to a sixteenth of a limit, or an eighth of a slow token bucket, may lie unused in some processes for a
 *   moment while others deny.
 * - Charges of one limit are leased, if it is at least 32 × `processes`, and its key is charged at least 8
 *   units in `hold`. `consecutive`, `concurrency` and `ban` are not leased.
 * - Limiters of one process should share one leased store: each further one counts as a process.
 *
 * Throws a `TypeError` for wrong options, and for a store that needs no leases.
 */
export function leased(store: Store, options: LeaseOptions = {}): Store {
  const [inner, settings] = readTogether(
    'leased',
    () => readInner(store),
    () => readLeaseOptions('leased', options),
  )
  const { origin = { client: inner }, notes } = inner // its keys are those of the inner store
  return { ...leasedStore(inner, settings), origin, ...(notes && { notes }) }
}

/** Returns a store whose units can be leased. Throws a `TypeError` for anything else. */
function readInner(store: unknown): Store {
  if (!isStore(store))
    throw wrongKind('leased', 'store', 'a store', store, 'Write leased(redisStore(client)).')
  if (isMemoryStore(store)) {
    const problem = 'store must be shared by several processes, got memoryStore()'
    throw new TypeError(`leased: ${problem}. Give the limiter memoryStore() itself: it takes no round trip.`)
  }
  if (store.decideLocally !== undefined) {
    const problem = 'store must not decide charges locally, as a leased store does'
    throw new TypeError(`leased: ${problem}. Lease the inner store once: leased(redisStore(client)).`)
  }
  return store
}
