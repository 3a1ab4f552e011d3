/**
 * The store for Amazon DynamoDB.
 *
 * @module
 */

export { type DynamodbStore, dynamodbStore } from './stores/dynamodb/dynamodb-store.js'
export { type DynamodbSchema, dynamodbSchema } from './stores/dynamodb/schema.js'
