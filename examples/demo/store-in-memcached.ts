import { memcachedStore } from 'headgate/memcached'
import { Client } from 'memjs'
import { outageReporter, reportingStore } from './outage-reporter.js'
import type { DemoStore } from './store.js'

export function storeInMemcached(address: string): DemoStore {
  const logger = { log: () => undefined } // the default one writes to the console
  const client = Client.create(address, { logger })
  const reporter = outageReporter('MEMCACHED_URL', 'memcached')
  client.stats((error) => {
    if (error) reporter.reportDown(error.message) // memjs connects with its first command
  })
  return {
    store: reportingStore(memcachedStore(client), reporter), // a memjs client has no connection events
    where: 'in memcached, shared by all demos with the same MEMCACHED_URL',
    close: () => client.close(), // the demo's own client, so the demo closes it
  }
}
