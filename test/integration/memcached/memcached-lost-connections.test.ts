import { readFile } from 'node:fs/promises'
import { type Policy, type Store, slidingWindow } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import { keyedPolicies, part, receiptOf, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { type Behaviour, type FaultyProxy, startProxy } from '../../support/proxy.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { freePort } from '../../support/servers/ports.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore, forgetStore, refundStore, takeOne } from '../../support/store-calls.js'
import { connections, TIMEOUT_OF_MEMJS_S } from './clients.js'
import { causeOf, failuresOf } from './failures.js'

const POLICIES = LONG_POLICIES.map(([, policyOf]) => policyOf(10))

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

beforeEach(() => server.command('flush_all'))

const keyOf = (name: string, { spec }: Policy) => `${name}:${spec.kind}`

/** Every call of a store, with each policy, of keys of which 5 of 10 are taken. */
async function everyCall(store: Store): Promise<(store: Store) => Promise<unknown>[]> {
  const receipts = await Promise.all(
    POLICIES.map((policy) => receiptOf(store, keyOf('refunded', policy), policy, 5)),
  )
  for (const policy of POLICIES) {
    for (const name of ['charged', 'twice', 'forgotten']) await takeOne(store, keyOf(name, policy), policy, 5)
  }
  return (tested) =>
    POLICIES.flatMap((policy, i) => {
      const twice = part(keyOf('twice', policy), policy)
      const receipt = receipts[i] as (typeof receipts)[number]
      return [
        chargeStore(tested, [[part(keyOf('charged', policy), policy, 2)]]),
        chargeStore(tested, [[twice, twice]]),
        refundStore(tested, [{ ...receipt, cost: 2 }]),
        forgetStore(tested, keyedPolicies(policy, keyOf('forgotten', policy))),
      ].map((call) => Promise.resolve(call))
    })
}

/** Each call was carried out once or not at all. */
async function expectAtMostOnce(): Promise<void> {
  const store = memcachedStore(open(server.url))
  for (const policy of POLICIES) {
    const keys = ['charged', 'twice', 'refunded', 'forgotten'].map((name) => keyOf(name, policy))
    const left = await remainingOf(store, policy, keys)
    expect([3, 5]).toContain(left[0])
    expect([3, 5]).toContain(left[1])
    expect([5, 7]).toContain(left[2])
    expect([5, 10]).toContain(left[3])
  }
}

/** Waits until a store decides again. A client whose time-out is short may need several attempts. */
async function expectToWork(store: Store): Promise<void> {
  for (const policy of POLICIES) {
    let attempts = 0
    await until('the store works again', async () => {
      const taken = await takeOne(store, `${keyOf('other', policy)}:${attempts++}`, policy)
      expect(taken).toMatchObject({ allowed: true, remaining: 9 })
      return true
    })
  }
}

/** Stops the server, and waits until it has really stopped. */
async function hang(): Promise<void> {
  await server.kill('SIGSTOP')
  const status = () => readFile(`/proc/${server.pid}/status`, 'utf8')
  await until('the server is stopped', async () => /^State:\tT/m.test(await status()))
}

describe.each([
  ["memjs' defaults", { timeout: TIMEOUT_OF_MEMJS_S }],
  ['retries: 5 and a long timeout', { retries: 5, timeout: 30 }],
])('with a client of %s', (_, options) => {
  test('when a server hangs, all charges reject in time; when it resumes, they work again', async () => {
    const calls = await everyCall(memcachedStore(open(server.url)))
    const store = memcachedStore(open(server.url, options))
    await expectToWork(store)
    await hang()
    try {
      for (const { message } of await failuresOf(calls(store))) {
        expect(message).toMatch(/127\.0\.0\.1:\d+: (no reply within 1000 ms|socket timed out)/)
      }
    } finally {
      await server.kill('SIGCONT')
    }
    await expectToWork(store)
    await expectAtMostOnce()
  })

  test.each<[string, Behaviour]>([
    ['it hears nothing', { onRequest: () => 'close' }],
    ['it hears all', { cutReplyAt: 0 }],
  ])(
    'a server that closes connections instead of replying fails all calls at once, and nothing is counted twice: %s',
    async (_way, behaviour) => {
      const calls = await everyCall(memcachedStore(open(server.url)))
      proxy.behave(behaviour)
      const store = memcachedStore(open(proxy.url, options))
      for (const { message } of await failuresOf(calls(store))) {
        expect(message).toMatch(/127\.0\.0\.1:\d+: the connection was closed/)
      }
      proxy.behave({})
      await expectToWork(store)
      await expectAtMostOnce()
    },
  )

  test('when a server hangs, many concurrent calls also reject in time', async () => {
    const store = memcachedStore(open(server.url, options))
    const policy = slidingWindow({ limit: 1000, window: '1000d' })
    await expectToWork(store)
    await hang()
    try {
      const calls = Array.from({ length: 2000 }, (_each, i) =>
        chargeStore(store, [[part(`key-${i}`, policy)]]),
      )
      for (const { message } of await failuresOf(calls)) expect(message).toMatch(/no reply|timed out/)
    } finally {
      await server.kill('SIGCONT')
    }
  })

  test('a first connection that hangs is dropped after a second, and the next one works', async () => {
    proxy.behave({ swallow: 'requests' })
    const store = memcachedStore(open(proxy.url, options))
    await failuresOf(POLICIES.map((policy) => chargeStore(store, [[part(keyOf('first', policy), policy)]])))
    proxy.behave({})
    await expectToWork(store)
  })

  test('when no server listens, all charges reject at once, with the reason', async () => {
    const calls = await everyCall(memcachedStore(open(server.url)))
    const store = memcachedStore(open(`127.0.0.1:${await freePort()}`, options))
    for (const failure of await failuresOf(calls(store))) {
      expect(causeOf(failure)).toContain('ECONNREFUSED')
    }
  })
})
