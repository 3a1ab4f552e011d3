import { memcachedStore } from 'headgate/memcached'
import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { type FaultyProxy, startProxy } from '../../support/proxy.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { takeOne } from '../../support/store-calls.js'
import { connections } from './clients.js'
import { failureOf } from './failures.js'

const { open, closeAll } = connections()
let server: MemcachedServer
let proxy: FaultyProxy

beforeAll(async () => {
  server = await startMemcached({ own: true })
  proxy = await startProxy(server)
}, INSTALL_TIMEOUT_MS)

afterEach(closeAll)

afterAll(async () => {
  await proxy?.stop()
  await server?.stop()
})

test.each(LONG_POLICIES.slice(0, 2))(
  'half a reply is not read as the beginning of the next one: %s',
  async (name, policyOf) => {
    const policy = policyOf(10)
    const store = memcachedStore(open(proxy.url))
    proxy.behave({})
    expect(await takeOne(store, name, policy)).toMatchObject({ remaining: 9 })
    proxy.behave({ cutReplyAt: 10 })
    await failureOf(takeOne(store, name, policy))
    await failureOf(takeOne(store, name, policy))
    proxy.behave({})
    const left = (await remainingOf(store, policy, [name]))[0] as number
    expect(left).toBeLessThanOrEqual(9)
    expect(left).toBeGreaterThanOrEqual(7) // those without a reply may have been counted
    expect(await takeOne(store, name, policy)).toMatchObject({ remaining: left - 1 })
  },
)
