import type { Policy, Store } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import { LONG_POLICIES } from '../../../src/testing/conformance/sample-policies.js'
import {
  allowedCount,
  keyedPolicies,
  part,
  remainingOf,
} from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore, forgetStore, refundStore } from '../../support/store-calls.js'
import { connections } from './clients.js'
import { expiriesOn } from './items.js'

const { open, closeAll } = connections()
let server: MemcachedServer
let store: Store

beforeAll(async () => {
  server = await startMemcached({ own: true })
}, INSTALL_TIMEOUT_MS)

afterEach(closeAll)

afterAll(() => server?.stop())

beforeEach(async () => {
  await server.command('flush_all')
  store = memcachedStore(open(server.url, { timeout: 30 }))
})

/** Units of denied charges are refunded after the verdict. */
async function expectLeft(policy: Policy, keys: readonly string[], left: readonly number[]): Promise<void> {
  await until(`${left} are left`, async () => {
    return JSON.stringify(await remainingOf(store, policy, keys)) === JSON.stringify(left)
  })
}

describe.each(LONG_POLICIES)('with a %s', (_, policyOf) => {
  test('5,000 charges of one key in one tick are counted exactly', async () => {
    const policy = policyOf(1000)
    const calls = Array.from({ length: 5000 }, () => chargeStore(store, [[part('hot', policy)]]))
    expect(allowedCount((await Promise.all(calls)).flat())).toBe(1000)
    await expectLeft(policy, ['hot'], [0])
  })

  test('1,000 charges of as many keys in one call are counted once each, refunded and forgotten', async () => {
    const policy = policyOf(5)
    const keys = Array.from({ length: 1000 }, (_each, i) => `key-${i}`)
    const verdicts = await chargeStore(
      store,
      keys.map((key) => [part(key, policy, 3)]),
    )
    expect(verdicts.filter(({ parts }) => parts[0]?.remaining !== 2)).toEqual([])
    await refundStore(
      store,
      keys.map((key, i) => ({ ...part(key, policy), takenAtMs: verdicts[i]?.atMs ?? 0 })),
    )
    expect(new Set(await remainingOf(store, policy, keys))).toEqual(new Set([3]))
    await forgetStore(store, keyedPolicies(policy, ...keys))
    expect((await expiriesOn(server)).size).toBe(0)
  })
})
