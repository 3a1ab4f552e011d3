import { consecutive, createLimiter, fixedWindow, leased, type Store, slidingWindow } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import {
  allowedCount,
  keyedPolicies,
  part,
  remainingOf,
} from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore, forgetStore, refundStore } from '../../support/store-calls.js'
import { recordWarnings } from '../../support/warnings.js'
import { connect } from './connect.js'
import { DRIVERS, type Open, type Opened, openedStore } from './drivers.js'

type AnyRedisClient = Parameters<typeof redisStore>[0]

/** Custom stores know only functions: each learns by itself that a server has slots, and loads no script. */
const CLIENTS = Object.entries<Open>(DRIVERS).filter(([name]) => name !== 'text')

const policy = fixedWindow({ limit: 3, window: LONG })
const keys = (count: number) => Array.from({ length: count }, (_, i) => `client-${i}`)

let server: RedisServer

/** Hosted clusters, such as ElastiCache Serverless, are one address that serves all slots. */
beforeAll(async () => {
  server = await startRedis({ args: ['--cluster-enabled', 'yes'] })
  await server.cli('CLUSTER', 'ADDSLOTSRANGE', 0, 16383)
  await until('the cluster is up', async () => /cluster_state:ok/.test(await server.cli('CLUSTER', 'INFO')))
}, INSTALL_TIMEOUT_MS)

afterAll(() => server?.stop())

beforeEach(() => server.cli('FLUSHALL'))

describe.each(Object.entries<Open>(DRIVERS))('a client of %s for one server, on a cluster', (_, open) => {
  const opened = openedStore(() => server.url, open)
  const warnings = recordWarnings()

  /** Charges each key as often at once, one unit a time. Returns how many were allowed. */
  async function chargeAll(store: Store, names: readonly string[], times: number, limit = policy) {
    const charges = Array.from({ length: times }, () => names.map((key) => [part(key, limit)])).flat()
    return allowedCount(await chargeStore(store, charges))
  }

  test('of 10 keys at a limit of 3, 30 charges are allowed, and one warning says why batches are split', async () => {
    const store = opened.makeStore()
    expect(await chargeAll(store, keys(10), 20)).toBe(30)
    expect(await chargeAll(store, keys(10), 20)).toBe(0)
    expect(await chargeAll(opened.makeStore(), keys(10), 1)).toBe(0)
    expect(warnings()).toEqual(['HEADGATE_REDIS_SLOTS'])
  })

  test('of 1000 callers at once, as many as the limits allow pass', async () => {
    const limiter = createLimiter({
      store: opened.makeStore(),
      name: 'crowd',
      limit: 4,
      window: '1h',
      key: (id: string) => id,
      onStoreError: 'allow',
      denyCache: false,
      timeout: '30s', // on a busy machine
    })
    const callers = Array.from({ length: 1000 }, (_, i) => limiter.charge(`caller-${i % 100}`))
    const decisions = await Promise.all(callers)
    expect(decisions.filter(({ source }) => source !== 'store')).toEqual([])
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(400)
  })

  test('with the default timeout as well, and a busy machine never makes the store decide wrongly', async () => {
    // Fewer callers each time, until the machine decides all of them in time.
    let isInTime = false
    for (let round = 0, clients = 100; !isInTime; round++, clients = Math.ceil(clients / 2)) {
      const limiter = createLimiter({
        ...{ store: opened.makeStore(), name: `hurried-${round}`, onStoreError: 'allow' },
        ...{ limit: 4, window: '1h', key: (id: string) => id },
      } as const)
      const names = Array.from({ length: 10 * clients }, (_, i) => `caller-${i % clients}`)
      const decisions = await Promise.all(names.map(async (name) => limiter.charge(name)))
      const allowed = decisions.filter((decision) => decision.allowed)
      expect(allowed.filter(({ source }) => source === 'store').length).toBeLessThanOrEqual(4 * clients)
      isInTime = decisions.every(({ source }) => source === 'store' || source === 'deny-cache')
      if (isInTime) expect(allowed).toHaveLength(4 * clients)
      const isDecided = async () => (await limiter.charge('another')).source === 'store'
      await until('no circuit breaker is open', isDecided)
    }
  })

  test('batches of several policies, kinds and operations are applied once', async () => {
    const store = opened.makeStore()
    const other = slidingWindow({ limit: 5, window: LONG })
    const outstanding = consecutive({ limit: 4 })
    const parts = keys(10).flatMap((key) => [
      part(`a:${key}`, policy),
      part(`b:${key}`, other, 2),
      part(`c:${key}`, outstanding),
    ])
    const verdicts = await chargeStore(
      store,
      parts.map((each) => [each]),
    )
    expect(allowedCount(verdicts)).toBe(30)
    await refundStore(
      store,
      parts.slice(0, 3).map((each, i) => ({ ...each, takenAtMs: verdicts[i]?.atMs ?? 0 })),
    )
    await forgetStore(store, keyedPolicies(policy, 'a:client-1', 'a:client-2', 'a:client-3'))
    expect(await remainingOf(store, policy, ['a:client-0', 'a:client-1', 'a:client-4'])).toEqual([3, 3, 2])
    expect(await remainingOf(store, other, ['b:client-0', 'b:client-1'])).toEqual([5, 3])
    expect(await remainingOf(store, outstanding, ['c:client-0', 'c:client-1'])).toEqual([4, 3])
  })

  test('a charge of keys in several slots takes all of its units or none', async () => {
    const store = opened.makeStore()
    const both = () => [part('one', policy), part('another', fixedWindow({ limit: 2, window: LONG }))]
    const verdicts = await chargeStore(store, [both(), both(), both()])
    expect(allowedCount(verdicts)).toBe(2)
    expect(await remainingOf(store, policy, ['one'])).toEqual([1])
  })

  test('documents are kept', async () => {
    const { documents } = opened.makeStore()
    for (const key of keys(3)) expect(await documents?.replace(key, `text of ${key}`, undefined)).toBe(true)
    const read = await documents?.read(keys(3).map((key) => ({ key })))
    expect(read?.map((document) => document?.text)).toEqual(keys(3).map((key) => `text of ${key}`))
  })
})

describe('with a prefix for keys', () => {
  recordWarnings()
  const clients: { disconnect(): unknown }[] = []
  afterEach(() => {
    for (const client of clients.splice(0)) client.disconnect()
  })

  const CLIENTS: readonly (readonly [string, () => Promise<AnyRedisClient>])[] = [
    [
      'ioredis 6',
      async () => {
        const client = new Redis(server.url, { autoResendUnfulfilledCommands: false, keyPrefix: 'app{1:' })
        clients.push(client)
        return client
      },
    ],
    [
      'redis 6',
      async () => {
        const client = createClient({ url: server.url, keyPrefix: 'app{1:' } as object)
        client.on('error', () => undefined)
        await client.connect()
        clients.push({ disconnect: () => client.destroy() })
        return client as AnyRedisClient
      },
    ],
  ]

  test.each(CLIENTS)('a client of %s sends by the slots of the whole keys', async (_, create) => {
    const store = redisStore(await create())
    const tagged = keys(50).map((key, i) => `${key}}${i % 2}`) // the prefix begins their hash tag
    const charges = Array.from({ length: 5 }, () => tagged.map((key) => [part(key, policy)])).flat()
    expect(allowedCount(await chargeStore(store, charges))).toBe(150)
    expect((await server.cli('KEYS', 'app{1:*')).split('\n')).toHaveLength(50)
  })
})

recordWarnings()

test('ioredis writes the commands of all slots of a batch at once', async () => {
  const client = await connect(server.url)
  const store = redisStore(client)
  const charges = keys(100).map((key) => [part(key, policy)])
  await chargeStore(store, charges)
  const write = jest.spyOn(client.stream, 'write')
  expect(allowedCount(await chargeStore(store, charges))).toBe(100)
  expect(write.mock.calls.length).toBeLessThan(5)
  client.disconnect()
})

test.each(CLIENTS)('a second store of a client of %s sends slot by slot at once', async (_, open) => {
  const opened: Opened = await open(server.url)
  const chargeKeys = (store: Store) =>
    chargeStore(
      store,
      keys(100).map((key) => [part(key, policy)]),
    )
  await chargeKeys(opened.makeStore())
  const countRejected = async () => /errorstat_CROSSSLOT.*/.exec(await server.cli('INFO', 'errorstats'))?.[0]
  const before = await countRejected()
  expect(before).toBeDefined()
  await chargeKeys(opened.makeStore())
  expect(await countRejected()).toBe(before)
  await opened.end()
})

test.each(CLIENTS)(
  'the first burst of a client of %s is rejected as one batch, and no digest is sent before its script',
  async (_, open) => {
    // A batch that takes 50 ms delays no others, as on a busy machine. So one burst of several counts.
    const rejectedBatches: number[] = []
    for (let burst = 0; burst < 10 && !rejectedBatches.includes(1); burst++) {
      await server.cli('FLUSHALL')
      await server.cli('SCRIPT', 'FLUSH')
      await server.cli('CONFIG', 'RESETSTAT')
      const opened = await open(server.url)
      const options = { name: 'burst', limit: 4, window: '1h', timeout: '30s' } as const
      const limiter = createLimiter({ ...options, store: opened.makeStore(), key: (id: string) => id })
      const callers = Array.from({ length: 1000 }, async (_each, i) => limiter.charge(`caller-${i % 100}`))
      expect((await Promise.all(callers)).filter(({ allowed }) => allowed)).toHaveLength(400)
      await opened.end()
      const errors = await server.cli('INFO', 'errorstats')
      expect(errors).not.toContain('NOSCRIPT')
      rejectedBatches.push(Number(/errorstat_CROSSSLOT:count=(\d+)/.exec(errors)?.[1]))
    }
    expect(rejectedBatches).toContain(1)
  },
)

test('leased units of keys in several slots never exceed their limits', async () => {
  const client = await connect(server.url)
  const limiter = createLimiter({
    ...{ store: leased(redisStore(client), { processes: 1 }), name: 'leased', key: (id: string) => id },
    ...{ limit: 64, window: '1h', denyCache: false, timeout: '30s' },
  } as const)
  let allowed = 0
  for (let round = 0; round < 20; round++) {
    const decisions = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => limiter.charge(`caller-${i % 10}`)),
    )
    expect(decisions.filter(({ source }) => source === 'local')).toEqual([])
    allowed += decisions.filter((decision) => decision.allowed).length
  }
  expect(allowed).toBe(640)
  await limiter.close()
  client.disconnect()
})
