import { ban, consecutive, fixedWindow, type Policy, slidingLog, slidingWindow, tokenBucket } from 'headgate'
import { dynamodbSchema, dynamodbStore } from 'headgate/dynamodb'
import { type Operation, StoreError } from 'headgate/store'
import { manualClock } from 'headgate/testing'
import { chargeOne, part, receiptOf, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { startProxy } from '../../support/proxy.js'
import { refundStore } from '../../support/store-calls.js'
import { describeStoreConformance } from '../../support/store-conformance.js'
import { type Dynalite, startDynalite } from './dynalite.js'
import { openClient, type TestClient } from './open.js'

jest.setTimeout(120_000)

let server: Dynalite
let client: TestClient
beforeAll(async () => {
  server = await startDynalite()
  client = openClient(server.folder, server.port)
})
afterAll(async () => {
  client.destroy()
  await server.stop()
})

const policy = fixedWindow({ limit: 1000, window: '1000d' })
const PREPARED = 'prepared'
let isPrepared: Promise<void> | undefined
let prefixes = 0

/** Returns a store in the table of all tests. */
async function preparedStore(of: TestClient = client) {
  isPrepared ??= dynamodbStore(client, { table: PREPARED }).prepare()
  await isPrepared
  return dynamodbStore(of, { table: PREPARED })
}

const newKey = () => `key-${++prefixes}`

/** Counts the requests of a client by their names. */
function countRequests(of: TestClient) {
  const counts: Record<string, number> = {}
  const count = (name: 'getItem' | 'putItem' | 'updateItem' | 'deleteItem') => {
    const send = of[name].bind(of)
    const counted = (input: object) => {
      counts[name] = (counts[name] ?? 0) + 1
      return send({ ...input, ReturnConsumedCapacity: 'TOTAL' })
    }
    return counted
  }
  const through = {
    ...{ config: of.config, getItem: count('getItem'), putItem: count('putItem') },
    ...{ updateItem: count('updateItem'), deleteItem: count('deleteItem') },
    ...{ createTable: of.createTable.bind(of), describeTable: of.describeTable.bind(of) },
    ...{ describeTimeToLive: of.describeTimeToLive, updateTimeToLive: of.updateTimeToLive },
  }
  return { through, counts }
}

/** A client whose keys are its own, in the table of all tests. */
function apart(prefix: string): TestClient {
  const at = <I extends { Key: { key: { S: string } } }>(input: I) => ({
    ...input,
    Key: { key: { S: `${prefix}${input.Key.key.S}` } },
  })
  return {
    ...countRequests(client).through,
    getItem: (input) => client.getItem(at(input)),
    updateItem: (input) => client.updateItem(at(input)),
    deleteItem: (input) => client.deleteItem(at(input)),
    putItem: ({ Item, ...input }) =>
      client.putItem({ ...input, Item: { ...Item, key: { S: `${prefix}${Item.key.S}` } } }),
  } as TestClient
}

describeStoreConformance(
  'DynamoDB',
  {
    async makeStore() {
      const clock = manualClock()
      await preparedStore()
      const store = dynamodbStore(apart(`${++prefixes}:`), { table: PREPARED, clock })
      return { store, advance: (ms) => void clock.advance(ms) }
    },
    capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: false },
  },
  'sample',
)

describe.each([1, 5, 10, 50])('%i processes that each serve one request of one key at once', (processes) => {
  test.each([
    ['tokenBucket', tokenBucket({ capacity: 30, refill: 30, every: '1000d' })],
    ['slidingWindow', slidingWindow({ limit: 30, window: '1000d' })],
    ['fixedWindow', fixedWindow({ limit: 30, window: '1000d' })],
  ])('decide all of them, up to the limit: %s', async (_, thirty) => {
    await preparedStore()
    const clients = Array.from({ length: processes }, () => openClient(server.folder, server.port))
    const key = newKey()
    const stores = clients.map((each) => dynamodbStore(each, { table: PREPARED }))
    const verdicts = await Promise.all(stores.map((store) => chargeOne(store, part(key, thirty))))
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(Math.min(30, processes))
    for (const each of clients) each.destroy()
  })
})

describe('a decision costs', () => {
  test('one update, for a new key and for one in use, allowed and denied', async () => {
    const { through, counts } = countRequests(client)
    await preparedStore()
    const store = dynamodbStore(through, { table: PREPARED })
    const key = newKey()
    for (const [cost, allowed] of [
      [600, true],
      [400, true],
      [1, false],
    ] as const)
      expect(await chargeOne(store, part(key, policy, cost))).toMatchObject({ allowed })
    expect(counts).toEqual({ updateItem: 3 })
  })

  test('one write more every twenty times', async () => {
    const { through, counts } = countRequests(client)
    await preparedStore()
    const store = dynamodbStore(through, { table: PREPARED })
    const key = newKey()
    for (let i = 0; i < 105; i++) await chargeOne(store, part(key, policy))
    expect(counts).toEqual({ updateItem: 105 + 5 })
    expect(await remainingOf(store, policy, [key])).toEqual([1000 - 105])
  })

  test('one update for charges of one key that arrive together', async () => {
    const { through, counts } = countRequests(client)
    await preparedStore()
    const store = dynamodbStore(through, { table: PREPARED })
    const charge: Operation = { type: 'charge', parts: [part(newKey(), policy)] }
    await store.apply(Array.from({ length: 200 }, () => charge))
    expect(counts).toEqual({ updateItem: 1 })
  })

  test('a read and a write, for a ban', async () => {
    const { through, counts } = countRequests(client)
    await preparedStore()
    const store = dynamodbStore(through, { table: PREPARED })
    const banned = ban(consecutive({ limit: 3 }), { after: 3, within: '1d', for: '1d' })
    await chargeOne(store, part(newKey(), banned))
    expect(counts).toEqual({ getItem: 1, putItem: 1 })
  })

  test('one write unit while the item is smaller than 1 KB', async () => {
    const store = await preparedStore()
    const key = newKey()
    for (let i = 0; i < 19; i++) await chargeOne(store, part(key, policy))
    const request = { TableName: PREPARED, Key: { key: { S: key } } }
    const { Item } = await client.getItem(request)
    expect(Item.log.L).toHaveLength(19)
    expect(JSON.stringify(Item).length).toBeLessThan(1024)
  })
})

describe('requests with lost replies', () => {
  test('are counted once, have an unknown outcome, and are not repeated', async () => {
    await preparedStore()
    const proxy = await startProxy({ host: '127.0.0.1', port: server.port })
    const through = openClient(server.folder, proxy.port)
    const { through: counted, counts } = countRequests(through)
    const store = dynamodbStore(counted, { table: PREPARED })
    const key = newKey()
    await chargeOne(store, part(key, policy))
    proxy.behave({ cutReplyAt: 0 })
    const failure = await chargeOne(store, part(key, policy)).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreError)
    expect(failure).toMatchObject({ replied: false, unsent: false })
    expect(counts).toEqual({ updateItem: 2 })
    await proxy.heal()
    expect(await remainingOf(store, policy, [key])).toEqual([998])
    through.destroy()
    await proxy.stop()
  })
})

test('a limit with other numbers keeps the usage, and a refund gives it back', async () => {
  const store = await preparedStore()
  const key = newKey()
  const few = fixedWindow({ limit: 10, window: '1000d' })
  const receipt = await receiptOf(store, key, few, 4)
  expect(await remainingOf(store, policy, [key])).toEqual([996])
  await chargeOne(store, part(key, policy, 3))
  await refundStore(store, [receipt])
  expect(await remainingOf(store, few, [key])).toEqual([7])
})

test('an item of another program fails its key alone and stays, until the key is forgotten', async () => {
  const store = await preparedStore()
  const key = newKey()
  const Item = { key: { S: key }, name: { S: 'Ada' } }
  await client.putItem({ TableName: PREPARED, Item })
  await expect(chargeOne(store, part(key, policy))).rejects.toThrow(/holds a value that is not a state/)
  expect((await client.getItem({ TableName: PREPARED, Key: { key: { S: key } } })).Item).toEqual(Item)
  await store.apply([{ type: 'forget', key, policy }])
  expect(await chargeOne(store, part(key, policy))).toMatchObject({ allowed: true })
})

test('an item may be deleted a minute after its units are back, or never', async () => {
  const clock = manualClock()
  await preparedStore()
  const store = dynamodbStore(client, { table: PREPARED, clock })
  const expiry = async (used: Policy) => {
    const key = newKey()
    await chargeOne(store, part(key, used))
    const { Item } = await client.getItem({ TableName: PREPARED, Key: { key: { S: key } } })
    return Item.expires === undefined ? undefined : Number(Item.expires.N) - clock() / 1000
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

async function entriesOf(key: string): Promise<number> {
  const { Item } = await client.getItem({ TableName: PREPARED, Key: { key: { S: key } } })
  return Item.log.L.length
}

/** A client that keeps updates back until they are let go, as when a function is frozen before it sends one. */
function freezing(of: TestClient) {
  const held: (() => void)[] = []
  const updateItem = async (input: object) => {
    await new Promise<void>((resolve) => held.push(resolve))
    return of.updateItem(input)
  }
  return { client: { ...countRequests(of).through, updateItem }, held }
}

describe.each([0, 15])(
  'a charge that arrives late, after %i denials, frees nothing that was taken since',
  (more) => {
    test.each([
      ['slidingLog', slidingLog({ limit: 5, window: '10s' })],
      ['tokenBucket', tokenBucket({ capacity: 5, refill: 5, every: '10s' })],
      [
        'fixedWindow from the first request',
        fixedWindow({ limit: 5, window: '10s', startsAt: 'first-request' }),
      ],
    ])('%s', async (_, five) => {
      const clock = manualClock()
      const options = { table: PREPARED, clock }
      const store = await preparedStore().then(() => dynamodbStore(client, options))
      const frozen = freezing(client)
      const key = newKey()
      const late = chargeOne(dynamodbStore(frozen.client, options), part(key, five))
      while (frozen.held.length === 0) await new Promise(setImmediate)
      await clock.advance(9000)
      for (let i = 0; i < 5 + more; i++)
        expect(await chargeOne(store, part(key, five))).toMatchObject({ allowed: i < 5 })
      while (more > 0 && (await entriesOf(key)) > 0) await new Promise(setImmediate) // until the log is emptied
      frozen.held[0]?.()
      expect(await late).toMatchObject({ allowed: false })
      await clock.advance(1500)
      expect(await chargeOne(store, part(key, five))).toMatchObject({ allowed: false })
    })
  },
)

test('processes whose clocks differ by 900 ms share a log, and charges among them free nothing', async () => {
  const { through, counts } = countRequests(client)
  await preparedStore()
  const startMs = Date.UTC(2030, 0, 1)
  let elapsedMs = 0
  const storeAhead = (aheadMs: number) =>
    dynamodbStore(through, { table: PREPARED, clock: () => startMs + elapsedMs + aheadMs })
  const stores = [storeAhead(0), storeAhead(900), storeAhead(400)]
  const used = slidingLog({ limit: 8, window: '10s' })
  const key = newKey()
  let allowed = 0
  for (let i = 0; i < 90; i++, elapsedMs += 100)
    if ((await chargeOne(stores[i % 3] as (typeof stores)[0], part(key, used))).allowed) allowed++
  expect(allowed).toBe(8)
  expect(counts).toEqual({ updateItem: 90 + 4 })
})

test.each([
  ['text that is no entry', 'hello'],
  ['an entry of another version', '["future",1,1]'],
])('a log with %s fails its key alone, until the key is forgotten', async (_, entry) => {
  const store = await preparedStore()
  const key = newKey()
  await chargeOne(store, part(key, policy))
  const request = { TableName: PREPARED, Key: { key: { S: key } } }
  const { Item } = await client.getItem(request)
  await client.putItem({ TableName: PREPARED, Item: { ...Item, log: { L: [{ S: entry }] } } })
  await expect(chargeOne(store, part(key, policy))).rejects.toThrow()
  await store.apply([{ type: 'forget', key, policy }])
  expect(await remainingOf(store, policy, [key])).toEqual([1000])
})

describe('errors', () => {
  test('name the fix', async () => {
    const missing = dynamodbStore(client, { table: 'missing' })
    await expect(chargeOne(missing, part('key', policy))).rejects.toMatchObject({
      message: expect.stringMatching(
        /^dynamodb: .*Await prepare\(\), create the table from dynamodbSchema\(\)/,
      ),
      replied: true,
    })
    const gone = openClient(server.folder, 1)
    await expect(chargeOne(dynamodbStore(gone), part('key', policy))).rejects.toMatchObject({
      message: expect.stringMatching(/ECONNREFUSED.*Check the region or the endpoint/),
      unsent: true,
    })
    gone.destroy()
  })

  test('of a client that would send requests again name maxAttempts', async () => {
    const retrying = openClient(server.folder, server.port, { maxAttempts: 3 })
    const store = dynamodbStore(retrying, { table: PREPARED })
    const message = /maxAttempts of the client must be 1, got 3.* Write new DynamoDB\(\{ maxAttempts: 1 \}\)/
    await expect(chargeOne(store, part('key', policy))).rejects.toThrow(message)
    await expect(store.prepare()).rejects.toThrow(message)
    retrying.destroy()
  })

  test('of throttling are retried', async () => {
    await preparedStore()
    const { through } = countRequests(client)
    let throttled = 0
    const updateItem = async (input: object) => {
      const name = 'ProvisionedThroughputExceededException'
      if (throttled++ < 2) throw Object.assign(new Error('slow down'), { name, $fault: 'client' })
      return client.updateItem(input)
    }
    const store = dynamodbStore({ ...through, updateItem }, { table: PREPARED })
    expect(await chargeOne(store, part(newKey(), policy))).toMatchObject({ allowed: true })
    expect(throttled).toBe(3)
  })

  test.each([
    [undefined, /client must be a DynamoDB of AWS SDK 3, got undefined\. Write dynamodbStore\(new DynamoDB/],
    [{ send() {}, config: {} }, /A DynamoDBClient or a document client lacks its methods\.$/],
  ])('of other clients name the right one: %#', (wrong, message) => {
    expect(() => dynamodbStore(wrong as never)).toThrow(message)
  })
})

test('prepare() may run again, and at the same time', async () => {
  const store = dynamodbStore(client, { table: 'prepared-twice' })
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
