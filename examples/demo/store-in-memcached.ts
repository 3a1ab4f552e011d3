import { memcachedStore, type Store, StoreError } from 'headgate'
import { Client } from 'memjs'
import { type AwayTeller, tellWhenAway } from './away.js'
import type { DemoStore } from './store.js'

export function storeInMemcached(address: string): DemoStore {
  const client = Client.create(address, { logger: { log: () => undefined } }) // else it writes to the console
  const teller = tellWhenAway('MEMCACHED_URL', 'memcached')
  client.stats((error) => {
    if (error) teller.away(error.message) // memjs connects at the first command: this is one
  })
  return {
    store: watched(memcachedStore(client), teller),
    where: 'in memcached, shared by all demos with the same MEMCACHED_URL',
    close: () => client.close(), // the demo's own client, so the demo closes it
  }
}

/** A memjs client does not tell whether it is connected. What becomes of charges does. */
function watched(store: Store, { away, back }: AwayTeller): Store {
  return {
    ...store,
    async charge(charges) {
      try {
        const verdicts = await store.charge(charges)
        back()
        return verdicts
      } catch (error) {
        if (error instanceof StoreError) away(error.message)
        throw error
      }
    },
  }
}
