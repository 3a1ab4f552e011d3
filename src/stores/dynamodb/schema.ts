import { readOptions, withDefault } from '../../options/option-table.js'
import { pause } from '../../util/defer.js'
import { wrongKind } from '../../util/validate.js'
import type { TableRequests } from './client.js'
import { dynamodbError } from './errors.js'

/** Options of the table. */
export interface DynamodbTableOptions {
  /** The table's name. Default: `headgate`. */
  table?: string
}

const NAME = /^[\w.-]{3,255}$/

/** The row of the option. */
export const TABLE_ROWS = {
  table: withDefault('headgate', (owner, option, value): string => {
    if (typeof value === 'string' && NAME.test(value)) return value
    const must = 'a name of 3 to 255 letters, digits, _, - and .'
    throw wrongKind(owner, option, must, value, "Write table: 'headgate'.")
  }),
}

/** The definition of a table, in CloudFormation's format. */
export interface DynamodbSchema {
  readonly TableName: string
  readonly AttributeDefinitions: { readonly AttributeName: string; readonly AttributeType: 'S' }[]
  readonly KeySchema: { readonly AttributeName: string; readonly KeyType: 'HASH' }[]
  readonly BillingMode: 'PAY_PER_REQUEST'
  readonly TimeToLiveSpecification: { readonly AttributeName: string; readonly Enabled: true }
}

/**
 * Returns the definition of the table for `dynamodbStore`, for infrastructure as code: the properties of an
 * `AWS::DynamoDB::Table` in CloudFormation.
 *
 * - `table` is the table's name. Default: `headgate`.
 *
 * Throws a `TypeError` for wrong options.
 *
 * @example
 * ```ts
 * import { dynamodbSchema } from 'headgate/dynamodb'
 *
 * const table = { Type: 'AWS::DynamoDB::Table', Properties: dynamodbSchema() }
 * console.log(JSON.stringify({ Resources: { Limits: table } }))
 * ```
 */
export function dynamodbSchema(options: DynamodbTableOptions = {}): DynamodbSchema {
  const { table } = readOptions('dynamodbSchema', options, { rows: TABLE_ROWS })
  return schemaOf(table)
}

function schemaOf(table: string): DynamodbSchema {
  return {
    TableName: table,
    AttributeDefinitions: [{ AttributeName: 'key', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'key', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
    TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
  }
}

const POLL_MS = 200
const MAX_POLLS = 600

/**
 * Creates the table if it does not exist, waits until it is active, and turns on the deletion of expired
 * items.
 */
export async function prepareTable(db: TableRequests | undefined, table: string): Promise<void> {
  if (db === undefined)
    throw new TypeError(
      'dynamodbStore: client must be a DynamoDB for prepare(), got a DynamoDBDocument, which cannot create tables. Await dynamodbStore(new DynamoDB({ maxAttempts: 1 })).prepare(), or create the table from dynamodbSchema().',
    )
  const { TimeToLiveSpecification, ...input } = schemaOf(table)
  const TableName = table
  try {
    await unless(db.createTable(input), 'ResourceInUseException') // it exists, or another process creates it
    for (let polls = 0; polls < MAX_POLLS; polls++) {
      const { Table } = await db.describeTable({ TableName })
      if (Table?.TableStatus === 'ACTIVE') break
      await pause(POLL_MS)
    }
    const { TimeToLiveDescription } = await db.describeTimeToLive({ TableName })
    if (['ENABLED', 'ENABLING'].includes(TimeToLiveDescription?.TimeToLiveStatus)) return
    // Emulators of the service may not delete expired items. Another process may have turned it on just now.
    const enabling = db.updateTimeToLive({ TableName, TimeToLiveSpecification })
    await unless(enabling, 'UnknownOperationException', 'ValidationException')
  } catch (error) {
    throw dynamodbError(error)
  }
}

async function unless(request: Promise<unknown>, ...names: readonly string[]): Promise<void> {
  try {
    await request
  } catch (error) {
    if (!names.includes(Object(error).name)) throw error
  }
}
