import { Redis } from '@upstash/redis'
import type { Store } from 'headgate'
import { upstashStore } from 'headgate/upstash'
import type { Extent } from '../../support/store-conformance.js'
import { describeConformance } from '../redis/conformance.js'
import type { useUpstash } from './use-upstash.js'

type Used = ReturnType<typeof useUpstash>

/** How users make the store. */
export function storesOf(used: Used): Readonly<Record<string, () => Store>> {
  return {
    'a URL and a token': () => upstashStore({ url: used.rest.url, token: used.rest.token }),
    'a Redis of @upstash/redis': () =>
      upstashStore(new Redis({ url: used.rest.url, token: used.rest.token, retry: { retries: 0 } })),
  }
}

/** Defines the tests of the store contract, over the REST protocol. */
export function describeUpstash(used: Used, makeStore: () => Store, extent: Extent): void {
  const open = async () => ({ makeStore, isReady: () => true, end: () => undefined })
  describeConformance('upstashStore', () => used.redis.server.url, open, extent)
}
