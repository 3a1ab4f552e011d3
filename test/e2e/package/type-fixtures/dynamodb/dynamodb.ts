import { DynamoDB, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { dynamodbSchema, dynamodbStore } from 'headgate/dynamodb'
import { createLimiter, type Store } from 'headgate/http'

const db = new DynamoDB({ maxAttempts: 1 })
const store: Store = dynamodbStore(db, { table: 'limits' })
export const limiter = createLimiter({ limit: 2, window: '1h', key: String, store })
export const created = db.createTable(dynamodbSchema({ table: 'limits' }))
export const prepared: Promise<void> = dynamodbStore(db).prepare()

export const mistakes = [
  // @ts-expect-error: this client lacks the methods
  () => dynamodbStore(new DynamoDBClient({ maxAttempts: 1 })),
  // @ts-expect-error: there is no such option
  () => dynamodbStore(db, { tabel: 'limits' }),
]
