import { memoryStore, type Store } from 'headgate'
import { storeInMemcached } from './store-in-memcached.js'
import { storeInRedis } from './store-in-redis.js'

export interface DemoStore {
  readonly store: Store
  /** Where the limits live, as the demo tells it. */
  readonly where: string
  /** Closes what was opened for the store. */
  close(): void
}

/** Where the demo keeps its limits. */
export type StorePlace =
  | { readonly in: 'memory' }
  | { readonly in: 'Redis'; readonly url: string }
  | { readonly in: 'memcached'; readonly address: string }

/** The one place where the demo's store is made. */
export function demoStore(place: StorePlace): DemoStore {
  if (place.in === 'Redis') return storeInRedis(place.url)
  if (place.in === 'memcached') return storeInMemcached(place.address)
  return { store: memoryStore(), where: 'in this process', close: () => undefined }
}
