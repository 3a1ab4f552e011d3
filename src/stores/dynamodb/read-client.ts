import { wrongKind } from '../../util/validate.js'
import { fieldsOf, hasMethods } from '../../util/values.js'
import type { ItemRequests, TableRequests } from './client.js'
import { checkConversion, type DynamoDbDocument, requestsOfDocuments } from './document-client.js'

/**
 * What the store needs of a `DynamoDB` of `@aws-sdk/client-dynamodb`, version 3
 * (https://docs.aws.amazon.com/AWSJavaScriptSDK/v3/latest/client/dynamodb/).
 */
export interface DynamoDb extends ItemRequests, TableRequests {
  readonly config: { readonly maxAttempts: () => Promise<number> }
}

/** What the store calls of a client. */
export interface ClientRequests {
  readonly items: ItemRequests
  /** Absent for a `DynamoDBDocument`, which cannot create tables. */
  readonly tables?: TableRequests
  /** Rejects if the client may send a request more than once. */
  check(): Promise<void>
}

const METHODS = ['getItem', 'putItem', 'updateItem', 'deleteItem', 'createTable'] as const
const DOCUMENT_METHODS = ['get', 'put', 'update', 'delete'] as const

/** Returns the requests of a client. Throws a `TypeError` for a value that lacks what the store needs. */
export function readClient(value: unknown): ClientRequests {
  if (isClient<DynamoDb>(value, METHODS)) {
    const check = attemptsCheck(value.config, 'new DynamoDB({ maxAttempts: 1 })')
    return { items: value, tables: value, check }
  }
  if (isClient<DynamoDbDocument>(value, DOCUMENT_METHODS)) {
    checkConversion(value)
    const check = attemptsCheck(value.config, 'DynamoDBDocument.from(new DynamoDBClient({ maxAttempts: 1 }))')
    return { items: requestsOfDocuments(value), check }
  }
  throw clientError(value)
}

/** Returns whether a value is a client of the SDK with these methods. */
function isClient<C>(value: unknown, methods: readonly (keyof C & string)[]): value is C {
  return hasMethods(value, ...methods) && hasMethods(fieldsOf(value).config, 'maxAttempts')
}

function clientError(value: unknown): TypeError {
  const fix = hasMethods(value, 'send')
    ? 'A DynamoDBClient or DynamoDBDocumentClient can only send commands. Write dynamodbStore(DynamoDBDocument.from(client)), with DynamoDBDocument from @aws-sdk/lib-dynamodb.'
    : 'Write dynamodbStore(new DynamoDB({ maxAttempts: 1 })), with DynamoDB from @aws-sdk/client-dynamodb.'
  return wrongKind('dynamodbStore', 'client', 'a DynamoDB or DynamoDBDocument of AWS SDK 3', value, fix)
}

/**
 * Returns a check that the client sends each request once. By default, the SDK resends a request whose reply
 * was lost, and a charge that had been applied would count twice.
 */
function attemptsCheck(config: DynamoDb['config'], fix: string): () => Promise<void> {
  let isChecked = false
  return async () => {
    if (isChecked) return
    const attempts = await config.maxAttempts()
    if (attempts !== 1)
      throw new TypeError(
        `dynamodbStore: maxAttempts of the client must be 1, got ${attempts}. Otherwise, a charge whose reply is lost counts twice. Write ${fix}.`,
      )
    isChecked = true
  }
}
