import { slidingLog } from 'headgate'
import { dynamodbStore } from 'headgate/dynamodb'
import { chargeOne, part, receiptOf, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { refundStore } from '../../support/store-calls.js'
import { optionsFor, sdkIn, type TranslateConfig } from './open.js'
import { newKey, TABLE, useDynalite } from './use-dynalite.js'

const tables = useDynalite()

const POLICY = slidingLog({ limit: 100, window: '1000d' })

const OPTIONS: readonly [string, TranslateConfig | undefined][] = [
  ['no options', undefined],
  ['all that changes what is written', { marshallOptions: allOf(true) }],
  ['nothing that changes what is written', { marshallOptions: allOf(false) }],
  ['numbers as objects', { unmarshallOptions: { wrapNumbers: true } }],
  ['numbers as texts', { unmarshallOptions: { wrapNumbers: String } }],
  ['numbers as bigints', { unmarshallOptions: { wrapNumbers: BigInt } }],
  ['numbers as values of its own', { unmarshallOptions: { wrapNumbers: () => Symbol('a number') } }],
]

/** A clock that has fractions of a millisecond, as `performance` has. */
const clock = () => performance.timeOrigin + performance.now()

function allOf(value: boolean): object {
  return {
    convertEmptyValues: value,
    removeUndefinedValues: value,
    convertClassInstanceToMap: value,
    allowImpreciseNumbers: value,
  }
}

test.each(OPTIONS)('a DynamoDBDocument shares items with a DynamoDB, with %s', async (_, options) => {
  const ours = tables.store(tables.document(options), clock)
  const theirs = tables.store(tables.client, clock)
  const key = newKey()
  const receipt = await receiptOf(ours, key, POLICY, 3)
  for (let i = 0; i < 45; i++) await chargeOne(i % 2 ? theirs : ours, part(key, POLICY)) // with folds
  await refundStore(ours, [receipt])
  for (const each of [ours, theirs]) expect(await remainingOf(each, POLICY, [key])).toEqual([55])
  await ours.apply([{ type: 'forget', key, policy: POLICY }])
  expect(await tables.item(key)).toBeUndefined()
})

test.each(OPTIONS)('settings are documents of any text, with %s', async (_, options) => {
  const { documents } = tables.store(tables.document(options))
  const { documents: theirs } = tables.store()
  const key = newKey()
  for (const text of ['', '{"limit":5}', 'ä'.repeat(100_000)]) {
    const [found] = (await documents?.read([{ key }])) ?? []
    expect(await documents?.replace(key, text, found?.version)).toBe(true)
    for (const each of [documents, theirs]) expect(await each?.read([{ key }])).toMatchObject([{ text }])
  }
})

test.each(OPTIONS)(
  'an item of another program fails its key alone and stays, with %s',
  async (_, options) => {
    const store = tables.store(tables.document(options))
    const key = newKey()
    const nested = { M: { list: { L: [{ NULL: true }, { BOOL: true }] }, tags: { SS: ['a'] } } }
    const Item = {
      key: { S: key },
      log: nested,
      version: { N: '7' },
      at: { NULL: true },
      state: { BOOL: false },
    }
    await tables.client.putItem({ TableName: TABLE, Item })
    await expect(chargeOne(store, part(key, POLICY))).rejects.toThrow(/holds a value that is not a state/)
    expect(await tables.item(key)).toEqual(Item)
  },
)

test.each<[TranslateConfig, string]>([
  [{ marshallOptions: { convertTopLevelContainer: false } }, 'convertTopLevelContainer'],
  [{ unmarshallOptions: { convertWithoutMapWrapper: false } }, 'convertWithoutMapWrapper'],
])('options with which the client cannot convert items are an error: %p', (options, name) => {
  expect(() => tables.store(tables.document(options))).toThrow(
    `dynamodbStore: ${name} of the DynamoDBDocument must be true, got false. Leave the option out.`,
  )
})

test('prepare() names what can create the table', async () => {
  await expect(tables.store(tables.document()).prepare()).rejects.toThrow(
    'dynamodbStore: client must be a DynamoDB for prepare(), got a DynamoDBDocument, which cannot create tables. Await dynamodbStore(new DynamoDB({ maxAttempts: 1 })).prepare(), or create the table from dynamodbSchema().',
  )
})

test('a client that would send requests again names the option', async () => {
  const { DynamoDBClient, DynamoDBDocument } = sdkIn(tables.server.folder)
  const client = new DynamoDBClient({ ...optionsFor(tables.server.port), maxAttempts: 3 })
  const store = tables.store(DynamoDBDocument.from(client))
  await expect(chargeOne(store, part(newKey(), POLICY))).rejects.toThrow(
    /must be 1, got 3.* Write DynamoDBDocument\.from\(new DynamoDBClient\(\{ maxAttempts: 1 \}\)\)\.$/,
  )
})

test('clients that only send commands name the ones to use', () => {
  const { DynamoDBClient, DynamoDBDocumentClient } = sdkIn(tables.server.folder)
  const client = new DynamoDBClient(optionsFor(tables.server.port))
  for (const bare of [client, DynamoDBDocumentClient.from(client)])
    expect(() => dynamodbStore(bare as never)).toThrow(
      /^dynamodbStore: client must be a DynamoDB or DynamoDBDocument of AWS SDK 3, got .*\. A DynamoDBClient or DynamoDBDocumentClient can only send commands\. Write dynamodbStore\(DynamoDBDocument\.from\(client\)\), with DynamoDBDocument from @aws-sdk\/lib-dynamodb\.$/,
    )
})

test.each([undefined, {}, { get() {}, put() {}, update() {}, delete() {} }])(
  'another value names the client: %p',
  (wrong) => {
    expect(() => dynamodbStore(wrong as never)).toThrow(
      /Write dynamodbStore\(new DynamoDB\(\{ maxAttempts: 1 \}\)\), with DynamoDB from @aws-sdk\/client-dynamodb\.$/,
    )
  },
)
