import { join } from 'node:path'
import type { Policy } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import type { Client } from 'memjs'
import { allowedCount, expectTaken, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { type Children, startChildren } from '../../support/servers/children.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore, refundStore } from '../../support/store-calls.js'
import { type Order, POLICIES } from '../redis/exactness-child.js'
import { connections } from './clients.js'
import type { Counts } from './exactness-child.js'
import { countAt, expiriesOn } from './items.js'

const NAMES = Object.keys(POLICIES) as (keyof typeof POLICIES)[]
const COUNTING = NAMES.filter((name) => name !== 'tokenBucket')

/** Who charges at the same time, and how many calls each caller makes. */
interface Load {
  readonly processes: number
  readonly callers: number
  readonly calls: number
}

/** Defines the tests of processes that share a server. */
export function describeMemcachedExactness({ processes, callers, calls }: Load): void {
  const sent = processes * callers * calls
  const limit = sent / 4

  const { open, closeAll } = connections()
  let server: MemcachedServer
  let client: Client
  let children: Children

  beforeAll(async () => {
    server = await startMemcached()
    client = open(server.url)
    children = await startChildren(join(__dirname, 'exactness-child.ts'), processes, [server.url])
    await chargeInAll([], 0)
  }, INSTALL_TIMEOUT_MS)

  afterAll(async () => {
    await children?.end()
    closeAll()
    await server?.stop()
  })

  /** Keys that nobody has charged, on a server that may be shared. */
  const run = `${process.pid}-${Date.now()}`

  /** Has all processes charge at the same time, every other one with the parts in reverse. */
  async function chargeInAll(parts: Order['parts'], each = calls): Promise<Counts> {
    const counts = await children.ask<Counts>((i): Order => {
      return { parts: i % 2 === 0 ? parts : parts.toReversed(), callers, each }
    })
    const sum = (name: keyof Counts) => counts.reduce((total, count) => total + count[name], 0)
    const sums = { allowed: sum('allowed'), denied: sum('denied'), ranOut: sum('ranOut') }
    expect(sums.allowed + sums.denied + sums.ranOut).toBe(processes * callers * each)
    return sums
  }

  /**
   * Denied charges are refunded after their verdicts; returns what is then left of a key.
   */
  async function expectRemaining(policy: Policy, key: string, remaining: number): Promise<void> {
    const store = memcachedStore(client)
    await until(`${remaining} are left of ${key}`, async () => {
      const [left] = await remainingOf(store, policy, [key])
      return left === remaining
    })
  }

  describe.each(NAMES)(`${processes} processes of ${callers} callers, with a %s`, (name) => {
    const policy = POLICIES[name](limit)

    test('take exactly the limit of one key, and no more with further charges', async () => {
      const key = `${run}:hot:${name}`
      const { allowed, ranOut } = await chargeInAll([{ key, policy: name, limit }])
      expect({ allowed, isRare: ranOut <= sent / 100 }).toEqual({ allowed: limit, isRare: true })
      await expectRemaining(policy, key, 0)
      expect(await chargeInAll([{ key, policy: name, limit }], 1)).toMatchObject({ allowed: 0 })
      await expectRemaining(policy, key, 0)
    })

    test('take exactly what is left once all refunds are done', async () => {
      const key = `${run}:refunded:${name}`
      const store = memcachedStore(client)
      await chargeStore(store, [[part(key, policy, limit - 10)]])
      expect(await chargeInAll([{ key, policy: name, limit }])).toMatchObject({ allowed: 10 })
      await expectRemaining(policy, key, 0)
      const taken = { ...part(key, policy, 7), takenAtMs: Date.now() }
      await refundStore(store, [{ ...taken, resetAtMs: Date.now() + policy.windowMs }])
      await expectRemaining(policy, key, 7)
      const verdicts = await chargeStore(
        store,
        Array.from({ length: 20 }, () => [part(key, policy)]),
      )
      expect(allowedCount(verdicts)).toBe(7)
    })
  })

  test.each(COUNTING)('the counter in the server is exactly the limit afterwards: %s', async (name) => {
    const key = `${run}:counter:${name}`
    await chargeInAll([{ key, policy: name, limit }])
    const items = async () => [...(await expiriesOn(server)).keys()].filter((each) => each.startsWith(key))
    await until(`the counter is ${limit}`, async () => {
      const counts = await Promise.all((await items()).map((each) => countAt(client, each)))
      return counts.length === 1 && counts[0] === limit
    })
  })

  test.each(NAMES.map((name, i) => [name, NAMES[(i + 1) % NAMES.length] as typeof name] as const))(
    'charges of two keys with two policies each never exceed a limit, and allowed ones are taken whole: %s and %s',
    async (first, second) => {
      const parts = [
        { key: `${run}:ip:${first}`, policy: first, limit: 1.4 * limit },
        { key: `${run}:ip:then:${second}`, policy: second, limit },
        { key: `${run}:account:${first}`, policy: first, limit: 1.2 * limit },
        { key: `${run}:account:then:${second}`, policy: second, limit: 1.6 * limit },
      ]
      const { allowed } = await chargeInAll(parts, 2)
      expect(allowed).toBeLessThanOrEqual(limit)
      expect(allowed).toBeGreaterThan(0)
      for (const { key, policy, limit: most } of parts) {
        await expectRemaining(POLICIES[policy](most), key, most - allowed)
      }
      const store = memcachedStore(client)
      await expectTaken(store, POLICIES[second](limit), [`${run}:ip:then:${second}`], allowed)
    },
  )
}
