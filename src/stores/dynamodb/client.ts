import { wrongKind } from '../../util/validate.js'
import type { Unchecked } from '../shared/validate.js'
import { dynamodbError, isConditionFailed } from './errors.js'

/** The value of an attribute, in one of the types that the store writes. */
export interface AttributeValue {
  readonly S?: string
  readonly N?: string
  readonly B?: Uint8Array
  readonly L?: readonly AttributeValue[]
}

/** The attributes of an item, by name. */
export type Item = Readonly<Record<string, AttributeValue>>

/** A condition on an item, and the names and values that it uses. */
export interface Condition {
  readonly ConditionExpression?: string
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>
  readonly ExpressionAttributeValues?: Item
}

interface ItemOf {
  readonly TableName: string
  readonly Key: Item
}

/** Sends a request of the SDK, once. */
// biome-ignore lint/suspicious/noExplicitAny: the types of inputs would have to be imported from the SDK
type Send = (input: any) => Promise<any>

/**
 * What the store needs of a `DynamoDB` of `@aws-sdk/client-dynamodb`, version 3
 * (https://docs.aws.amazon.com/AWSJavaScriptSDK/v3/latest/client/dynamodb/).
 */
export interface DynamoDb {
  readonly config: { readonly maxAttempts: () => Promise<number> }
  readonly getItem: Send
  readonly putItem: Send
  readonly updateItem: Send
  readonly deleteItem: Send
  readonly createTable: Send
  readonly describeTable: Send
  readonly describeTimeToLive: Send
  readonly updateTimeToLive: Send
}

/** The requests of the store, on one table. */
export interface Table {
  readonly name: string
  get(key: string): Promise<Item | undefined>
  put(item: Item, condition: Condition): Promise<void>
  /** Resolves with the item after the update. */
  update(key: string, update: Condition & { readonly UpdateExpression: string }): Promise<Item>
  remove(key: string, condition: Condition): Promise<void>
}

/** Returns the requests on a table. `check` is awaited before each. */
export function tableOf(db: DynamoDb, name: string, check: () => Promise<void>): Table {
  const at = (key: string): ItemOf => ({ TableName: name, Key: { key: { S: key } } })

  async function send<T>(request: () => Promise<T>): Promise<T> {
    await check()
    try {
      return await request()
    } catch (error) {
      throw isConditionFailed(error) ? error : dynamodbError(error)
    }
  }

  return {
    name,
    get: async (key) => (await send(() => db.getItem({ ...at(key), ConsistentRead: true }))).Item,
    put: (Item, condition) => send(() => db.putItem({ TableName: name, Item, ...condition })),
    async update(key, update) {
      const reply = await send(() => db.updateItem({ ...at(key), ...update, ReturnValues: 'ALL_NEW' }))
      return reply.Attributes ?? {}
    },
    remove: (key, condition) => send(() => db.deleteItem({ ...at(key), ...condition })),
  }
}

const METHODS = ['getItem', 'putItem', 'updateItem', 'deleteItem', 'createTable'] as const
const FIX =
  'Write dynamodbStore(new DynamoDB({ maxAttempts: 1 })), with DynamoDB from @aws-sdk/client-dynamodb.'

/** Returns the client. Throws a `TypeError` for a value that lacks what the store needs. */
export function readClient(value: unknown): DynamoDb {
  const { config, ...methods }: Unchecked<DynamoDb> = fieldsOf(value)
  const { maxAttempts }: Unchecked<DynamoDb['config']> = config ?? {}
  if (typeof maxAttempts === 'function' && METHODS.every((name) => typeof methods[name] === 'function'))
    return value as DynamoDb
  const { send }: { readonly send?: unknown } = value ?? {}
  const why = typeof send === 'function' ? ' A DynamoDBClient or a document client lacks its methods.' : ''
  throw wrongKind('dynamodbStore', 'client', 'a DynamoDB of AWS SDK 3', value, `${FIX}${why}`)
}

/** Returns the fields that the store needs. The client inherits most of them. */
function fieldsOf(value: unknown): Unchecked<DynamoDb> {
  const client: Unchecked<DynamoDb> = value ?? {}
  const { config, getItem, putItem, updateItem, deleteItem, createTable } = client
  return { config, getItem, putItem, updateItem, deleteItem, createTable }
}

/**
 * Returns a check that the client sends each request once. By default, the SDK resends a request whose reply
 * was lost, and a charge that had been applied would count twice.
 */
export function attemptsCheck(db: DynamoDb): () => Promise<void> {
  let isChecked = false
  return async () => {
    if (isChecked) return
    const attempts = await db.config.maxAttempts()
    if (attempts !== 1)
      throw new TypeError(
        `dynamodbStore: maxAttempts of the client must be 1, got ${attempts}, which counts a charge twice if its reply is lost. Write new DynamoDB({ maxAttempts: 1 }).`,
      )
    isChecked = true
  }
}
