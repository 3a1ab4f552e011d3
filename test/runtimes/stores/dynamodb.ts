import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { dynamodbStore } from 'headgate/dynamodb'

const dynamodb = new DynamoDB({
  endpoint: process.env.DYNAMODB_URL,
  region: 'eu-central-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  maxAttempts: 1,
})

export const store = dynamodbStore(dynamodb, { table: process.env.DYNAMODB_TABLE as string })
