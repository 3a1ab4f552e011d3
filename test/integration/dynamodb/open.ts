import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Item } from '../../../src/stores/dynamodb/client.js'
import type { DynamoDbDocument } from '../../../src/stores/dynamodb/document-client.js'
import type { DynamoDb } from '../../../src/stores/dynamodb/read-client.js'

/** A client of the SDK. */
export interface TestClient extends DynamoDb {
  scan(input: { readonly TableName: string }): Promise<{ readonly Items?: readonly Item[] }>
  destroy(): void
}

/** Options of a `DynamoDBDocument`: how it converts values. */
export interface TranslateConfig {
  readonly marshallOptions?: object
  readonly unmarshallOptions?: object
}

interface Sdk {
  readonly DynamoDB: new (options: object) => TestClient
  readonly DynamoDBClient: new (options: object) => object
  readonly DynamoDBDocument: { from(client: object, options?: TranslateConfig): DynamoDbDocument }
  readonly DynamoDBDocumentClient: { from(client: object): object }
}

/** Returns the SDK that a folder has. */
export function sdkIn(folder: string): Sdk {
  const load = createRequire(join(folder, 'package.json'))
  return { ...load('@aws-sdk/client-dynamodb'), ...load('@aws-sdk/lib-dynamodb') }
}

/** Opens a client of a server on loopback. */
export function openClient(folder: string, port: number | string, options: object = {}): TestClient {
  return new (sdkIn(folder).DynamoDB)({ ...optionsFor(port), ...options })
}

/** Returns the options of a client of a server on loopback. */
export const optionsFor = (port: number | string) => ({
  endpoint: `http://127.0.0.1:${port}`,
  region: 'eu-central-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  maxAttempts: 1,
})
