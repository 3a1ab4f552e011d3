import { setTimeout as pause } from 'node:timers/promises'
import { slidingWindow } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import { type FaultyProxy, startProxy } from '../../support/proxy.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { chargeStore } from '../../support/store-calls.js'
import { connections } from './clients.js'

const { open, closeAll } = connections()
let server: MemcachedServer
let links: FaultyProxy[] = []

beforeAll(async () => {
  server = await startMemcached({ own: true })
  links = await Promise.all([450, 230, 0].map((requestDelayMs) => slowLink(requestDelayMs)))
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  closeAll()
  await Promise.all(links.map((link) => link.stop()))
  await server?.stop()
})

async function slowLink(requestDelayMs: number): Promise<FaultyProxy> {
  const proxy = await startProxy(server)
  proxy.behave({ requestDelayMs })
  return proxy
}

test('charges that take longer than a slice see each other, whichever is counted first', async () => {
  const policy = slidingWindow({ limit: 5, window: 1000, slices: 10 })
  const stores = links.map(({ url }) => memcachedStore(open(url)))
  for (const store of stores) await chargeOne(store, part('warm-up', policy, 0)) // all are connected
  for (let i = 0; i < 5; i++) {
    const verdicts = []
    for (const store of stores) {
      verdicts.push(chargeOne(store, part(`key-${i}`, policy, 5)))
      await pause(200)
    }
    const allowed = (await Promise.all(verdicts)).map((verdict) => verdict.allowed)
    expect(allowed.filter(Boolean).length).toBeLessThanOrEqual(1)
  }
})

test('a server that takes seconds to reply to a large batch, but keeps replying, is not taken for one that hangs', async () => {
  const link = await slowLink(0)
  links.push(link)
  const policy = slidingWindow({ limit: 5, window: '1d' })
  const store = memcachedStore(open(link.url))
  await chargeOne(store, part('warm-up', policy, 0))
  link.behave({ msPerByte: 1 })
  const verdicts = await chargeStore(
    store,
    Array.from({ length: 5 }, (_, i) => [part(`batch-${i}`, policy)]),
  )
  link.behave({})
  expect(verdicts.map(({ parts }) => parts[0]?.remaining)).toEqual(Array(5).fill(4))
})
