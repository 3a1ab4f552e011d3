import { remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { type Order, POLICIES } from '../redis/exactness-child.js'
import { type Children, startChildren } from './children.js'
import type { Counts } from './exactness-child.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

const PROCESSES = 4
const CALLERS = 200
const EACH = 2
const SENT = PROCESSES * CALLERS * EACH

const NAMES = Object.keys(POLICIES) as (keyof typeof POLICIES)[]
const PAIRS = NAMES.map((name, i) => [name, NAMES[(i + 1) % NAMES.length] as typeof name] as const)

describe.each(DATABASES)('on %s, four processes of 200 callers', (_name, kind) => {
  const database = setUpDatabase(kind)
  let children: Children
  let table: string

  beforeAll(async () => {
    table = await database.makeTable()
    const place = { kind, url: database.server.url, table }
    children = await startChildren('exactness-child.ts', PROCESSES, place)
    await chargeInAll([], 0) // all are there
  }, 60_000)

  afterAll(() => children?.end())

  /** Has all processes charge at the same time, every other one with the parts in reverse. */
  async function chargeInAll(parts: Order['parts'], each = EACH): Promise<Counts> {
    const counts = await children.ask<Counts>((i): Order => {
      return { parts: i % 2 === 0 ? parts : parts.toReversed(), callers: CALLERS, each }
    })
    const sum = (name: keyof Counts) => counts.reduce((total, count) => total + count[name], 0)
    return { allowed: sum('allowed'), denied: sum('denied') }
  }

  test.each(NAMES)('take exactly the limit of one new key, and no more later: %s', async (policy) => {
    const order = [{ key: `hot:${policy}`, policy, limit: 1000 }]
    expect(await chargeInAll(order)).toEqual({ allowed: 1000, denied: SENT - 1000 })
    const store = database.open().makeStore({ table })
    expect(await remainingOf(store, POLICIES[policy](1000), [`hot:${policy}`])).toEqual([0])
    expect(await chargeInAll(order, 1)).toEqual({ allowed: 0, denied: SENT / EACH })
  })

  test.each(PAIRS)(
    'take exactly as much of two new keys with two policies each: %s and %s',
    async (first, second) => {
      const parts = [
        { key: `ip:first:${first}`, policy: first, limit: 1400 },
        { key: `ip:second:${first}`, policy: second, limit: 1000 },
        { key: `account:first:${first}`, policy: first, limit: 1200 },
        { key: `account:second:${first}`, policy: second, limit: 1600 },
      ]
      expect(await chargeInAll(parts)).toEqual({ allowed: 1000, denied: SENT - 1000 })
      const store = database.open().makeStore({ table })
      const left = parts.map(({ key, policy, limit }) => remainingOf(store, POLICIES[policy](limit), [key]))
      expect((await Promise.all(left)).flat()).toEqual([400, 0, 200, 600])
    },
  )
})
