import { setTimeout as pause } from 'node:timers/promises'
import { type Policy, type Store, slidingWindow } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import type { Client } from 'memjs'
import { itemKey } from '../../../src/stores/memcached/protocol.js'
import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import {
  chargeOne,
  expectTaken,
  keyedPolicies,
  part,
  remainingOf,
} from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { startAll, stopAll } from '../../support/servers/wait.js'
import { chargeStore, forgetStore, takeOne } from '../../support/store-calls.js'
import { outcomeOf } from '../redis/outcomes.js'
import { connections } from './clients.js'
import { failureOf } from './failures.js'
import { expiriesOn } from './items.js'

const POLICIES = LONG_POLICIES.map(([, policyOf]) => policyOf(5))

/** All but what the deadlines of the store go by. */
const NOT_FAKED: FakeableAPI[] = ['nextTick', 'queueMicrotask', 'setImmediate', 'setInterval', 'Date']

const { open, closeAll } = connections()
let servers: MemcachedServer[] = []
let client: Client
let store: Store

beforeAll(async () => {
  servers = await startAll([startMemcached({ own: true }), startMemcached({ own: true })])
}, INSTALL_TIMEOUT_MS)

afterEach(closeAll)

afterAll(() => stopAll(servers))

beforeEach(async () => {
  await Promise.all(servers.map((server) => server.restart()))
  client = open(servers.map(({ url }) => url).join(','))
  store = memcachedStore(client)
})

/** So many keys of a policy that live on one of the servers. */
function keysOn(at: number, { spec }: Policy, count: number): string[] {
  const keys = Array.from({ length: 20 * count }, (_, i) => `${spec.kind}-${i}`)
  const its = keys.filter((key) => client.server(itemKey(key))?.port === servers[at]?.port)
  expect(its.length).toBeGreaterThanOrEqual(count)
  return its.slice(0, count)
}

describe.each<[string, (server: MemcachedServer) => Promise<void>]>([
  ['that was killed', (server) => server.kill()],
  ['that hangs', (server) => server.kill('SIGSTOP')],
])('of two servers, one %s', (_, lose) => {
  afterEach(() => jest.useRealTimers())

  test('fails only the charges of its keys, and delays no others', async () => {
    const pairs = POLICIES.flatMap((policy) => {
      const kept = keysOn(1, policy, 20)
      return keysOn(0, policy, 20).map((lost, i) => ({ policy, lost, kept: kept[i] as string }))
    })
    await chargeStore(
      store,
      pairs.flatMap(({ policy, lost, kept }) => [[part(lost, policy)], [part(kept, policy)]]),
    )
    await lose(servers[0] as MemcachedServer)
    jest.useFakeTimers({ doNotFake: NOT_FAKED }) // no charge fails for the time it takes, until the clock moves
    let failed = 0
    // Without a time limit, which the moved clock would end before the store has answered.
    const errorOf = async (call: unknown): Promise<Error> => {
      try {
        return new Error(`no failure: ${JSON.stringify(await call)}`)
      } catch (error) {
        return error as Error
      }
    }
    const calls = pairs.map(({ policy, lost, kept }) => ({
      failure: errorOf(chargeStore(store, [[part(lost, policy)]])).finally(() => failed++),
      outcome: outcomeOf(chargeStore(store, [[part(kept, policy)]])),
    }))
    for (const { error, verdict } of await Promise.all(calls.map(({ outcome }) => outcome))) {
      expect({ error, remaining: verdict?.parts[0]?.remaining }).toEqual({ error: undefined, remaining: 3 })
    }
    for (; failed < calls.length; await pause(5)) await jest.advanceTimersByTimeAsync(100)
    for (const { failure } of calls) expect((await failure).message).toContain(servers[0]?.url)
  })

  test('takes nothing from the other, whichever key of a charge comes first', async () => {
    const keys = POLICIES.map(
      (policy) => [keysOn(0, policy, 1)[0], keysOn(1, policy, 1)[0]] as [string, string],
    )
    await chargeStore(
      store,
      keys.map(([, kept], i) => [part(kept, POLICIES[i] as Policy, 2)]),
    )
    await lose(servers[0] as MemcachedServer)
    const failures = keys.flatMap(([lost, kept], i) => {
      const [atLost, atKept] = [part(lost, POLICIES[i] as Policy), part(kept, POLICIES[i] as Policy, 2)]
      return [
        [atLost, atKept],
        [atKept, atLost],
      ].map((charge) => failureOf(chargeStore(store, [charge])))
    })
    await Promise.all(failures)
    for (const [i, [, kept]] of keys.entries()) await expectTaken(store, POLICIES[i] as Policy, [kept], 2)
  })
})

test('a charge of keys on both servers that one denies takes nothing from the other', async () => {
  for (const policy of POLICIES) {
    const [[first = ''], [second = '']] = [keysOn(0, policy, 1), keysOn(1, policy, 1)]
    await chargeStore(store, [[part(second, policy, 4)]])
    const verdict = await chargeOne(store, part(first, policy, 3), part(second, policy, 2))
    expect(verdict.parts.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 5],
      [false, 1],
    ])
    await expectTaken(store, policy, [first], 0)
    expect(await remainingOf(store, policy, [second])).toEqual([1])
  }
})

test('all items of a key live on one server, whatever slices they count', async () => {
  const policy = slidingWindow({ limit: 1000, window: 1000, slices: 10 })
  const keys = [0, 1].map((at) => keysOn(at, policy, 20))
  for (let i = 0; i < 4; i++) {
    for (const key of keys.flat()) await takeOne(store, key, policy)
    await pause(110)
  }
  for (const [at, server] of servers.entries()) {
    const items = [...(await expiriesOn(server)).keys()]
    expect(new Set(items.map((item) => item.replace(/:\d+$/, '')))).toEqual(new Set(keys[at]))
    for (const key of keys[at] ?? []) {
      expect(items.filter((item) => item.startsWith(`${key}:`)).length).toBeGreaterThan(2)
    }
  }
  await forgetStore(store, keyedPolicies(policy, ...keys.flat()))
  expect(await remainingOf(store, policy, keys.flat())).toEqual(keys.flat().map(() => 1000))
})
