import { setTimeout as pause } from 'node:timers/promises'
import { memcachedStore } from 'headgate/memcached'
import type { ConformanceSetup } from 'headgate/testing'
import { Client } from 'memjs'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { describeStoreConformance, type Extent } from '../../support/store-conformance.js'

/** Defines the tests of the store contract for a server of their own. */
export function describeMemcachedConformance(extent: Extent): void {
  let server: MemcachedServer
  let client: Client

  beforeAll(async () => {
    server = await startMemcached({ own: true })
    client = Client.create(server.url, { timeout: 30 })
  }, INSTALL_TIMEOUT_MS)

  afterAll(async () => {
    client?.close()
    await server?.stop()
  })

  const setup: ConformanceSetup = {
    capabilities: { settableClock: false, anyKey: true, atomicAcrossKeys: false },
    async makeStore() {
      await server.command('flush_all')
      return { store: memcachedStore(client), advance: (ms) => pause(ms + 1) }
    },
  }
  describeStoreConformance('memcachedStore', setup, extent)
}
