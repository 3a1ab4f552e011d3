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

/** A change of an item, if a condition holds. */
export interface Update extends Condition {
  readonly UpdateExpression: string
}

interface ItemOf {
  readonly TableName: string
  readonly Key: Item
}

/** Sends a request of the SDK, once. */
// biome-ignore lint/suspicious/noExplicitAny: the types of inputs would have to be imported from the SDK
export type Send = (input: any) => Promise<any>

/** The requests of the store on items. Their inputs and outputs are those of `DynamoDB`. */
export interface ItemRequests {
  readonly getItem: Send
  readonly putItem: Send
  readonly updateItem: Send
  readonly deleteItem: Send
}

/** The requests of `prepare`. */
export interface TableRequests {
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
  update(key: string, update: Update): Promise<Item>
  remove(key: string, condition: Condition): Promise<void>
}

/** Returns the requests on a table. `check` is awaited before each. */
export function tableOf(db: ItemRequests, name: string, check: () => Promise<void>): Table {
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
