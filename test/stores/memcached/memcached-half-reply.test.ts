import { memcachedStore } from 'headgate'
import { LONG_POLICIES, remainingOf, takeOne } from '../../conformance/kit.js'
import { INSTALL_TIMEOUT_MS } from '../../servers/install.js'
import { type MemcachedServer, startMemcached } from '../../servers/memcached.js'
import { type Cutter, startCutter } from './cutter.js'
import { connections, failureOf } from './kit.js'

const { open, closeAll } = connections()
let server: MemcachedServer
let cutter: Cutter

beforeAll(async () => {
  server = await startMemcached({ own: true })
  cutter = await startCutter(server)
}, INSTALL_TIMEOUT_MS)

afterEach(closeAll)

afterAll(async () => {
  await cutter?.stop()
  await server?.stop()
})

test.each(LONG_POLICIES.slice(0, 2))(
  'half a reply is not taken for the beginning of the next one: %s',
  async (name, policyOf) => {
    const policy = policyOf(10)
    const store = memcachedStore(open(cutter.url))
    cutter.way = 'pass'
    expect(await takeOne(store, name, policy)).toMatchObject({ remaining: 9 })
    cutter.way = 'half'
    cutter.cut()
    await failureOf(takeOne(store, name, policy))
    await failureOf(takeOne(store, name, policy))
    cutter.way = 'pass'
    const left = (await remainingOf(store, policy, [name]))[0] as number
    expect(left).toBeLessThanOrEqual(9)
    expect(left).toBeGreaterThanOrEqual(7) // those without a reply may have been counted
    expect(await takeOne(store, name, policy)).toMatchObject({ remaining: left - 1 })
  },
)
