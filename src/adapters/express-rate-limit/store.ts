import { showKind } from '../../util/validate.js'
import { fieldsOf } from '../../util/values.js'
import type { IncrementResponse, LegacyStore, Store } from './types.js'

/** Returns a store of express-rate-limit, with promises if it has callbacks. Throws a `TypeError`. */
export function readStore(given: unknown): Store {
  const store = isLegacy(given) ? new PromisifiedStore(given) : given
  if (isExpressRateLimitStore(store)) return store
  throw new TypeError(
    `rateLimit: store must be a store of express-rate-limit or of headgate, got ${showKind(given)}. ` +
      "Use new MemoryStore(), or the store of your database, such as redisStore(client) from 'headgate/redis'.",
  )
}

function isExpressRateLimitStore(value: unknown): value is Store {
  const { increment, decrement, resetKey, resetAll, init } = fieldsOf(value)
  const required = [increment, decrement, resetKey].every((method) => typeof method === 'function')
  return required && [resetAll, init].every((method) => method === undefined || typeof method === 'function')
}

/** Returns whether a store counts by a callback only. One that has both methods counts by promises. */
function isLegacy(value: unknown): value is LegacyStore {
  const { incr, increment } = fieldsOf(value)
  return typeof incr === 'function' && typeof increment !== 'function'
}

/** Its own class, so that the check for double counts takes it for no other store. */
class PromisifiedStore implements Store {
  readonly #store: LegacyStore

  constructor(store: LegacyStore) {
    this.#store = store
  }

  increment(key: string): Promise<IncrementResponse> {
    return new Promise((resolve, reject) => {
      this.#store.incr(key, (error, totalHits, resetTime) => {
        if (error) reject(error)
        else resolve({ totalHits, resetTime })
      })
    })
  }

  async decrement(key: string): Promise<void> {
    return this.#store.decrement(key)
  }

  async resetKey(key: string): Promise<void> {
    return this.#store.resetKey(key)
  }

  async resetAll(): Promise<void> {
    return this.#store.resetAll?.()
  }
}
