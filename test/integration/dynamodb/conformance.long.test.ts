import type { DynamoDbDocument } from '../../../src/stores/dynamodb/document-client.js'
import { describeConformance } from './conformance.js'
import { useDynalite } from './use-dynalite.js'

jest.setTimeout(600_000)

const tables = useDynalite()
let document: DynamoDbDocument
beforeAll(() => {
  document = tables.document()
})

describeConformance('DynamoDB', tables, [() => tables.client], 'all')
describeConformance('DynamoDB, with a DynamoDBDocument,', tables, [() => document], 'all')
