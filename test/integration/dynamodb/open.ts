import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { DynamoDb } from '../../../src/stores/dynamodb/client.js'

/** A client, whose calls tests may count. */
export interface TestClient extends DynamoDb {
  readonly middlewareStack: {
    add(middleware: (next: Handler) => Handler, options: { readonly step: 'finalizeRequest' }): void
  }
  destroy(): void
}

type Handler = (args: unknown) => Promise<unknown>

/** Returns the SDK that a folder has. */
export function sdkIn(folder: string): { readonly DynamoDB: new (options: object) => TestClient } {
  return createRequire(join(folder, 'package.json'))('@aws-sdk/client-dynamodb')
}

/** Opens a client of a server on loopback. */
export function openClient(folder: string, port: number | string, options: object = {}): TestClient {
  return new (sdkIn(folder).DynamoDB)({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
    ...options,
  })
}
