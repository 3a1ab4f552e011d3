import type { DynamoDbDocument } from '../../../src/stores/dynamodb/document-client.js'
import { describeConformance } from './conformance.js'
import { useDynalite } from './use-dynalite.js'

const tables = useDynalite()
let document: DynamoDbDocument
beforeAll(() => {
  document = tables.document()
})

const clients = [() => tables.client, () => document]
describeConformance('DynamoDB, with both clients in turn,', tables, clients, 'small sample')
