import type { AttributeValue, Item, ItemRequests, Send } from './client.js'

/**
 * What the store needs of a `DynamoDBDocument` of `@aws-sdk/lib-dynamodb`, version 3
 * (https://docs.aws.amazon.com/AWSJavaScriptSDK/v3/latest/Package/-aws-sdk-lib-dynamodb/).
 */
export interface DynamoDbDocument {
  readonly config: {
    readonly maxAttempts: () => Promise<number>
    /** How the client converts values. */
    readonly translateConfig?: TranslateConfig | undefined
  }
  readonly get: Send
  readonly put: Send
  readonly update: Send
  readonly delete: Send
}

/** How a client converts values, as `DynamoDBDocument.from` takes it. */
interface TranslateConfig {
  readonly marshallOptions?: { readonly convertTopLevelContainer?: boolean }
  readonly unmarshallOptions?: { readonly convertWithoutMapWrapper?: boolean }
}

/** Throws a `TypeError` for options with which the client can neither write lists nor read items. */
export function checkConversion({ config }: DynamoDbDocument): void {
  const { marshallOptions, unmarshallOptions } = config.translateConfig ?? {}
  for (const [option, value] of Object.entries({
    convertTopLevelContainer: marshallOptions?.convertTopLevelContainer,
    convertWithoutMapWrapper: unmarshallOptions?.convertWithoutMapWrapper,
  }))
    if (value === false)
      throw new TypeError(
        `dynamodbStore: ${option} of the DynamoDBDocument must be true, got false. Leave the option out.`,
      )
}

/** Returns the requests of a client that takes and returns plain values. */
export function requestsOfDocuments(client: DynamoDbDocument): ItemRequests {
  return {
    getItem: async (input) => withItems(await client.get(withPlainItems(input))),
    putItem: (input) => client.put(withPlainItems(input)),
    updateItem: async (input) => withItems(await client.update(withPlainItems(input))),
    deleteItem: (input) => client.delete(withPlainItems(input)),
  }
}

interface Input {
  readonly Key?: Item
  readonly Item?: Item
  readonly ExpressionAttributeValues?: Item
}

function withPlainItems(input: Input) {
  const { Key, Item, ExpressionAttributeValues } = input
  return {
    ...input,
    ...(Key && { Key: mapValues(Key, plainOf) }),
    ...(Item && { Item: mapValues(Item, plainOf) }),
    ...(ExpressionAttributeValues && {
      ExpressionAttributeValues: mapValues(ExpressionAttributeValues, plainOf),
    }),
  }
}

interface Output {
  readonly Item?: Readonly<Record<string, unknown>>
  readonly Attributes?: Readonly<Record<string, unknown>>
}

function withItems({ Item, Attributes, ...output }: Output) {
  return {
    ...output,
    ...(Item && { Item: mapValues(Item, attributeOf) }),
    ...(Attributes && { Attributes: mapValues(Attributes, attributeOf) }),
  }
}

function plainOf({ S, N, B, L }: AttributeValue): unknown {
  return S ?? B ?? (L ? L.map(plainOf) : Number(N))
}

/**
 * Returns the attribute of a plain value. Numbers, and values of types that the store does not write, become an
 * attribute without a value: the store reads neither.
 */
function attributeOf(value: unknown): AttributeValue {
  if (value instanceof Uint8Array) return { B: value }
  if (Array.isArray(value)) return { L: value.map(attributeOf) }
  return typeof value === 'string' ? { S: value } : {}
}

function mapValues<V, R>(values: Readonly<Record<string, V>>, map: (value: V) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
}
