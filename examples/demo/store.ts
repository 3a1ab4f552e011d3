import { memoryStore, type Store } from 'headgate'
import { storeInDatabase } from './store-in-database.js'
import { storeInMemcached } from './store-in-memcached.js'
import { storeInRedis } from './store-in-redis.js'

export interface DemoStore {
  readonly store: Store
  /** Where the limits live, in words. */
  readonly where: string
  /** Closes the client that was opened for the store. */
  close(): void | Promise<void>
}

/** Where the demo keeps its limits. */
export type StorePlace =
  | { readonly in: 'memory' }
  | { readonly in: 'Redis'; readonly url: string }
  | { readonly in: 'memcached'; readonly address: string }
  | { readonly in: 'a database'; readonly url: string }

/** Creates the store that the settings name. */
export async function demoStore(place: StorePlace): Promise<DemoStore> {
  if (place.in === 'Redis') return storeInRedis(place.url)
  if (place.in === 'memcached') return storeInMemcached(place.address)
  if (place.in === 'a database') return storeInDatabase(place.url)
  return { store: memoryStore(), where: 'in this process', close: () => undefined }
}
