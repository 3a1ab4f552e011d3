import type { Policy, Store } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import type { Client } from 'memjs'
import { remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { until } from '../../support/servers/wait.js'
import { connections } from './clients.js'

/** A memcached server, and for each test a client of it and a store. */
export interface UsedMemcached {
  server: MemcachedServer
  client: Client
  store: Store
  /** Opens another client, which is closed after the test. */
  open(): Client
}

/** Starts a memcached server for the tests of a file, and stops it after them. It is empty before each test. */
export function useMemcached(): Readonly<UsedMemcached> {
  const { open, closeAll } = connections()
  const memcached = { open: () => open(memcached.server.url) } as UsedMemcached

  beforeAll(async () => {
    memcached.server = await startMemcached({ own: true })
  }, INSTALL_TIMEOUT_MS)

  afterEach(closeAll)

  afterAll(() => memcached.server?.stop())

  beforeEach(async () => {
    await memcached.server.command('flush_all')
    memcached.client = memcached.open()
    memcached.store = memcachedStore(memcached.client)
  })

  return memcached
}

/** Waits until so much is left of each key. Units of denied charges are refunded after the verdict. */
export async function expectLeft(
  store: Store,
  policy: Policy,
  keys: readonly string[],
  left: readonly number[],
): Promise<void> {
  await until(`${left} are left`, async () => {
    return JSON.stringify(await remainingOf(store, policy, keys)) === JSON.stringify(left)
  })
}
