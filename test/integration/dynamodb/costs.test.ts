import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ban, consecutive, createLimiter, fixedWindow } from 'headgate'
import type { Operation, Store } from 'headgate/store'
import { chargeOne, part, receiptOf, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { ROOT } from '../../e2e/package/run.js'
import { refundStore } from '../../support/store-calls.js'
import { type Costs, metered } from './clients.js'
import { newKey, useDynalite } from './use-dynalite.js'

const tables = useDynalite()

let nowMs = 0
beforeEach(() => {
  nowMs = Date.UTC(2030, 0, 1)
})
const storeOf = (client = tables.client) => tables.store(client, () => nowMs)

const policy = fixedWindow({ limit: 1000, window: '1000d' })
const other = fixedWindow({ limit: 5, window: '1000d' })
const banned = ban(consecutive({ limit: 3 }), { after: 3, within: '1d', for: '1d' })

const chargeTimes = async (store: Store, key: string, times: number) => {
  for (let i = 0; i < times; i++) await chargeOne(store, part(key, policy))
}

/** For each row of the page: prepares through a store, and returns what to do through another that is metered. */
const ROWS: Readonly<Record<string, (prepare: Store, key: string) => Promise<(store: Store) => unknown>>> = {
  'allowed or denied': async () => (store) => chargeOne(store, part(newKey(), policy)),
  'every twentieth of the same key': async (prepare, key) => {
    await chargeTimes(prepare, key, 19)
    return (store) => chargeOne(store, part(key, policy))
  },
  'late, after the end of its minute': async (prepare, key) => {
    nowMs += 60_000
    await chargeOne(prepare, part(key, policy))
    nowMs -= 1
    return (store) => chargeOne(store, part(key, policy))
  },
  'of a `ban`': async () => (store) => chargeOne(store, part(newKey(), banned)),
  'the first under other numbers': async (prepare, key) => {
    await chargeTimes(prepare, key, 3)
    return (store) => chargeOne(store, part(key, other))
  },
  'of two limits, allowed': async () => (store) =>
    chargeOne(store, part(newKey(), policy), part(newKey(), other)),
  'of two limits, denied by the second': async (prepare, key) => {
    await chargeOne(prepare, part(key, other, 5))
    return (store) => chargeOne(store, part(newKey(), policy), part(key, other))
  },
  refund: async (prepare, key) => {
    const receipt = await receiptOf(prepare, key, policy, 2)
    return (store) => refundStore(store, [{ ...receipt, cost: 1 }])
  },
  peek: async (prepare, key) => {
    await chargeTimes(prepare, key, 1)
    return (store) => remainingOf(store, policy, [key])
  },
  'denied by the [denial cache](../reliability.md)': async (prepare, key) => {
    const limiter = createLimiter({ name: 'cached', policy: other, key: () => key, store: prepare })
    for (let i = 0; i < 6; i++) await limiter.charge(undefined)
    return () => limiter.charge(undefined)
  },
}

const page = readFileSync(join(ROOT, 'docs/stores/dynamodb.md'), 'utf8')
const [, table = ''] = /^\| decision \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(page) ?? []
const rows = table
  .trim()
  .split('\n')
  .map((line) => line.split('|').slice(1, -1))
  .map(([decision = '', ...figures]) => [decision.trim(), figures.map(Number)] as const)

test('the page has a row for each decision that is counted here', () => {
  expect(rows.map(([decision]) => decision)).toEqual(Object.keys(ROWS))
})

const requestsIn = ({ requests }: Costs) => Object.values(requests).reduce((sum, count) => sum + count, 0)

test.each(rows)('a decision costs what the page says: %s', async (decision, figures) => {
  const { client, costs, pending } = metered(tables.client)
  const store = storeOf(client)
  const isCached = decision.startsWith('denied by the [denial cache]')
  const decide = await ROWS[decision]?.(isCached ? store : storeOf(), newKey())
  const before = { requests: requestsIn(costs), readUnits: costs.readUnits, writeUnits: costs.writeUnits }
  await decide?.(store)
  const isUnderWay = () => requestsIn(costs) - before.requests < Number(figures[0]) || pending() > 0
  while (isUnderWay()) await new Promise(setImmediate) // a fold
  await tables.item('another') // any request too many was sent before this one
  const took = [requestsIn(costs), costs.readUnits, costs.writeUnits]
  expect(took.map((count, i) => count - (Object.values(before)[i] ?? 0))).toEqual(figures)
})

test('a denied charge costs as much as one that is allowed', async () => {
  const { client, costs } = metered(tables.client)
  const key = newKey()
  for (const allowed of [true, true, false, false])
    expect(await chargeOne(storeOf(client), part(key, policy, 400))).toMatchObject({ allowed })
  expect(costs).toEqual({ requests: { update: 4 }, readUnits: 0, writeUnits: 4, failedConditions: 0 })
})

test('forty charges of a key cost 42 write units, so an item has less than 1 KB meanwhile', async () => {
  const { client, costs } = metered(tables.client)
  const key = newKey()
  await chargeTimes(storeOf(client), key, 40)
  while (costs.writeUnits < 42) await new Promise(setImmediate)
  expect(costs).toEqual({ requests: { update: 42 }, readUnits: 0, writeUnits: 42, failedConditions: 0 })
  expect(await remainingOf(storeOf(), policy, [key])).toEqual([960])
})

test('charges of one key that arrive together cost as much as one', async () => {
  const { client, costs } = metered(tables.client)
  const charge: Operation = { type: 'charge', parts: [part(newKey(), policy)] }
  await storeOf(client).apply(Array.from({ length: 200 }, () => charge))
  expect(costs).toEqual({ requests: { update: 1 }, readUnits: 0, writeUnits: 1, failedConditions: 0 })
})
