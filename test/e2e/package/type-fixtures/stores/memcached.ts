import { type Duration, rateLimit, type Store } from 'headgate/http'
import { memcachedStore } from 'headgate/memcached'
import { Client } from 'memjs'

const window: Duration = '1h'
const servers = 'localhost:11211'
const store: Store = memcachedStore(Client.create(servers, { retries: 1 }))
export const limiter = rateLimit({ limit: 2, window, store, onStoreError: 'local' })

export const mistakes = [
  // @ts-expect-error: a list of servers is no client
  () => memcachedStore(servers),
  // @ts-expect-error: the client is required
  () => memcachedStore(),
]
