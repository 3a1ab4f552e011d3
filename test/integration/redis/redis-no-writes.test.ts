import { byIp, createLimiter, type Policy } from 'headgate'
import type { Redis } from 'ioredis'
import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { chargeStore, refundStore } from '../../support/store-calls.js'
import { connect, dumpAll } from './connect.js'
import { ALL_DRIVERS, openedStore } from './drivers.js'
import { failureOf } from './outcomes.js'

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis({ own: true })
  client = await connect(server.url)
  await client.config('SET', 'maxmemory-policy', 'noeviction')
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  client?.disconnect()
  await server?.stop()
})

beforeEach(() => client.flushall())

const REFUSALS: readonly (readonly [string, () => Promise<unknown>, () => Promise<unknown>])[] = [
  ['OOM', () => client.config('SET', 'maxmemory', '1'), () => client.config('SET', 'maxmemory', '0')],
  ['READONLY', () => client.replicaof('127.0.0.1', 1), () => client.replicaof('NO', 'ONE')],
  [
    'NOREPLICAS',
    () => client.config('SET', 'min-replicas-to-write', '1'),
    () => client.config('SET', 'min-replicas-to-write', '0'),
  ],
]

describe.each(ALL_DRIVERS)('with a client of %s,', (_driver, open) => {
  const opened = openedStore(() => server.url, open)

  describe.each(REFUSALS)('while the server refuses writes with %s', (code, begin, end) => {
    afterEach(end)

    test.each(LONG_POLICIES)(
      'a %s denies a client at its limit, even in one batch with new keys, which reject',
      async (_, policyOf) => {
        const policy: Policy = policyOf(5)
        const store = opened.makeStore()
        await chargeStore(store, [[part('limited', policy, 5)], [part('held', policy, 2)]])
        const before = await dumpAll(client)
        await begin()
        const newcomers = ['a', 'b'].map((key) => chargeStore(store, [[part(key, policy)]]))
        const limited = chargeStore(store, [[part('limited', policy)]])
        const both = chargeStore(store, [[part('new', policy), part('limited', policy)]])
        const peek = chargeStore(store, [[part('held', policy, 0)]])
        const held = ['held', 'held'].map((key) => chargeStore(store, [[part(key, policy, 2)]]))
        const tooMuch = chargeStore(store, [[part('held', policy, 4)]])
        for (const call of [...newcomers, ...held]) {
          expect(await failureOf(call)).toMatchObject({ cause: { message: expect.stringContaining(code) } })
        }
        expect(await limited).toMatchObject([{ allowed: false, parts: [{ remaining: 0 }] }])
        expect(await both).toMatchObject([{ allowed: false, parts: [{ remaining: 5 }, { remaining: 0 }] }])
        expect(await peek).toMatchObject([{ allowed: true, parts: [{ remaining: 3 }] }])
        expect(await tooMuch).toMatchObject([{ allowed: false, parts: [{ remaining: 3 }] }])
        await failureOf(refundStore(store, [{ ...part('held', policy), takenAtMs: Date.now() }]))
        expect(await dumpAll(client)).toEqual(before)
        await end()
        expect(await remainingOf(store, policy, ['held', 'a', 'new'])).toEqual([3, 5, 5])
      },
    )

    test('a flood of new keys frees no limited client', async () => {
      const store = opened.makeStore()
      const name = `flood-${code}` // the client serves one limiter without a name
      const options = { limit: 5, window: '1d', denyCache: false, timeout: '10s' } as const // on a busy machine
      const limiter = createLimiter({ store, name, key: byIp(), ...options })
      const charge = (ip: string) => limiter.charge({ ip })
      for (let i = 0; i < 5; i++) expect((await charge('192.0.2.1')).allowed).toBe(true)
      await begin()
      for (let i = 0; i < 20; i++) {
        const others = Array.from({ length: 5 }, (_, at) => charge(`198.51.100.${at}`))
        const [limited] = await Promise.all([charge('192.0.2.1'), ...others])
        expect(limited).toMatchObject({ allowed: false, source: 'store' })
      }
    })
  })
})
