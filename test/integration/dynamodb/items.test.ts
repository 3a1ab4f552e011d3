import { consecutive, fixedWindow, type Policy, slidingLog, tokenBucket } from 'headgate'
import { dynamodbSchema, dynamodbStore } from 'headgate/dynamodb'
import { manualClock } from 'headgate/testing'
import { chargeOne, part, receiptOf, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { refundStore } from '../../support/store-calls.js'
import { describeAtOnce, describeMeetings } from './at-once.js'
import { intercepted } from './clients.js'
import { describeExpiries } from './expiries.js'
import { describeInterleavings } from './interleavings.js'
import { newKey, TABLE, useDynalite } from './use-dynalite.js'

const tables = useDynalite()

const policy = fixedWindow({ limit: 1000, window: '1000d' })

describeAtOnce(tables, [1, 10])
describeMeetings(tables)
describeExpiries(tables, 2)
describeInterleavings(tables, { numRuns: 1, leastOvertaken: 0, leastRefused: 0, policies: ['slidingLog'] })

test('a limit with other numbers keeps the usage, and a refund gives it back', async () => {
  const store = tables.store()
  const key = newKey()
  const few = fixedWindow({ limit: 10, window: '1000d' })
  const receipt = await receiptOf(store, key, few, 4)
  expect(await remainingOf(store, policy, [key])).toEqual([996])
  await chargeOne(store, part(key, policy, 3))
  await refundStore(store, [receipt])
  expect(await remainingOf(store, few, [key])).toEqual([7])
})

test('a refund of units that were taken at a faster rate keeps the expiry of an item', async () => {
  const store = tables.store(tables.client, manualClock())
  const key = newKey()
  const bucket = (every: string) => tokenBucket({ capacity: 10, refill: 10, every })
  const receipt = await receiptOf(store, key, bucket('1h'), 4)
  await chargeOne(store, part(key, bucket('1000d'), 3))
  const before = await tables.item(key)
  await refundStore(store, [receipt])
  expect((await tables.item(key))?.expires).toEqual(before?.expires)
  expect(await remainingOf(store, bucket('1000d'), [key])).toEqual([7])
})

test('an item of another program fails its key alone and stays, until the key is forgotten', async () => {
  const store = tables.store()
  const key = newKey()
  const Item = { key: { S: key }, name: { S: 'Ada' } }
  await tables.client.putItem({ TableName: TABLE, Item })
  await expect(chargeOne(store, part(key, policy))).rejects.toThrow(/holds a value that is not a state/)
  expect(await tables.item(key)).toEqual(Item)
  await store.apply([{ type: 'forget', key, policy }])
  expect(await chargeOne(store, part(key, policy))).toMatchObject({ allowed: true })
})

test('an item may be deleted a minute after its units are back, or never', async () => {
  const clock = manualClock()
  const store = tables.store(tables.client, clock)
  const expiry = async (used: Policy) => {
    const key = newKey()
    await chargeOne(store, part(key, used))
    const expires = (await tables.item(key))?.expires?.N
    return expires === undefined ? undefined : Number(expires) - clock() / 1000
  }
  expect(await expiry(consecutive({ limit: 5 }))).toBeUndefined()
  for (const used of [
    slidingLog({ limit: 5, window: '10m' }),
    tokenBucket({ capacity: 5, refill: 5, every: '10m' }),
  ]) {
    const seconds = (await expiry(used)) ?? 0
    expect(seconds).toBeGreaterThanOrEqual(660)
    expect(seconds).toBeLessThanOrEqual(720)
  }
})

test.each([
  ['text that is no entry', 'hello'],
  ['an entry of another version', '["future",1,1]'],
])('a log with %s fails its key alone, until the key is forgotten', async (_, entry) => {
  const store = tables.store()
  const key = newKey()
  await chargeOne(store, part(key, policy))
  const Item = { ...(await tables.item(key)), log: { L: [{ S: entry }] } }
  await tables.client.putItem({ TableName: TABLE, Item })
  await expect(chargeOne(store, part(key, policy))).rejects.toThrow()
  await store.apply([{ type: 'forget', key, policy }])
  expect(await remainingOf(store, policy, [key])).toEqual([1000])
})

test('a log that is longer than one fold may be is folded in parts, without a loss', async () => {
  const key = newKey()
  let isHeld = true
  const withoutFolds = intercepted(tables.client, async ({ operation, input, send }) => {
    if (isHeld && operation === 'update' && input.UpdateExpression.includes('REMOVE')) throw new Error('lost')
    return send()
  })
  const store = tables.store(withoutFolds)
  const once = { type: 'charge', parts: [part(key, policy)] } as const
  const twice = { type: 'charge', parts: [part(key, policy, 2)] } as const
  const batch = Array.from({ length: 250 }, (_, i) => (i % 2 ? once : twice)) // an entry each
  await store.apply(batch)
  const lengthOf = async () => (await tables.item(key))?.log?.L?.length
  expect(await lengthOf()).toBe(250)
  isHeld = false
  for (let i = 0; i < 10; i++) await chargeOne(store, part(key, policy))
  while ((await lengthOf()) !== 60) await new Promise(setImmediate)
  expect(await remainingOf(store, policy, [key])).toEqual([1000 - 375 - 10])
  for (let i = 0; i < 20; i++) await chargeOne(store, part(key, policy))
  while (Number(await lengthOf()) > 20) await new Promise(setImmediate)
  expect(await remainingOf(store, policy, [key])).toEqual([1000 - 375 - 30])
})

describe('errors', () => {
  test('name the fix', async () => {
    const missing = dynamodbStore(tables.client, { table: 'missing' })
    await expect(chargeOne(missing, part('key', policy))).rejects.toMatchObject({
      message: expect.stringMatching(
        /^dynamodb: .*Await prepare\(\), create the table from dynamodbSchema\(\)/,
      ),
      replied: true,
    })
    await expect(chargeOne(tables.store(tables.open({}, 1)), part('key', policy))).rejects.toMatchObject({
      message: expect.stringMatching(/ECONNREFUSED.*Check the region or the endpoint/),
      unsent: true,
    })
  })

  test('of a client that would send requests again name maxAttempts', async () => {
    const store = tables.store(tables.open({ maxAttempts: 3 }))
    const message = /maxAttempts of the client must be 1, got 3.* Write new DynamoDB\(\{ maxAttempts: 1 \}\)/
    await expect(chargeOne(store, part('key', policy))).rejects.toThrow(message)
    await expect(store.prepare()).rejects.toThrow(message)
  })

  test('of throttling are retried', async () => {
    let throttled = 0
    const busy = intercepted(tables.client, async ({ send }) => {
      const name = 'ProvisionedThroughputExceededException'
      if (throttled++ < 2) throw Object.assign(new Error('slow down'), { name, $fault: 'client' })
      return send()
    })
    expect(await chargeOne(tables.store(busy), part(newKey(), policy))).toMatchObject({ allowed: true })
    expect(throttled).toBe(3)
  })
})

test('prepare() may run again, and at the same time', async () => {
  const store = dynamodbStore(tables.client, { table: 'prepared-twice' })
  await Promise.all([store.prepare(), store.prepare()])
  await store.prepare()
  expect(await chargeOne(store, part('key', policy))).toMatchObject({ allowed: true })
})

test('the schema is that of the table', () => {
  expect(dynamodbSchema({ table: 'limits' })).toEqual({
    TableName: 'limits',
    AttributeDefinitions: [{ AttributeName: 'key', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'key', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
    TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
  })
  expect(() => dynamodbSchema({ table: 'a b' })).toThrow(/table must be a name of 3 to 255 letters/)
})
