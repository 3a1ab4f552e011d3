import { memcachedStore } from 'headgate'
import { Client } from 'memjs'
import { tellWhenAway, watched } from './away.js'
import type { DemoStore } from './store.js'

export function storeInMemcached(address: string): DemoStore {
  const client = Client.create(address, { logger: { log: () => undefined } }) // else it writes to the console
  const teller = tellWhenAway('MEMCACHED_URL', 'memcached')
  client.stats((error) => {
    if (error) teller.away(error.message) // memjs connects at the first command: this is one
  })
  return {
    store: watched(memcachedStore(client), teller), // a memjs client does not tell whether it is connected
    where: 'in memcached, shared by all demos with the same MEMCACHED_URL',
    close: () => client.close(), // the demo's own client, so the demo closes it
  }
}
