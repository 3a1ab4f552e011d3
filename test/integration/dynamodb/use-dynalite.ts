import { type DynamodbStore, dynamodbStore } from 'headgate/dynamodb'
import type { Item } from '../../../src/stores/dynamodb/client.js'
import type { DynamoDbDocument } from '../../../src/stores/dynamodb/document-client.js'
import type { AnyClient } from './clients.js'
import { type Dynalite, startDynalite } from './dynalite.js'
import { openClient, sdkIn, type TestClient, type TranslateConfig } from './open.js'

export const TABLE = 'headgate'

let keys = 0

/** Returns a key that no other test of the file uses. */
export const newKey = () => `key-${++keys}`

/** A server for the tests of a file, with the table of a store. */
export interface Tables {
  readonly server: Dynalite
  /** A client that all tests may use. */
  readonly client: TestClient
  /** Opens a client with plain values. Those over one client would share their options. */
  document(options?: TranslateConfig, port?: number): DynamoDbDocument
  /** Opens a client of its own, which is closed after the tests. */
  open(options?: object, port?: number): TestClient
  /** Returns a store in the table. */
  store(client?: AnyClient, clock?: () => number): DynamodbStore
  /** Returns what the table has at a key. */
  item(key: string): Promise<Item | undefined>
}

/** Starts the server before the tests of a file, and stops it after them. */
export function useDynalite(): Tables {
  const clients: TestClient[] = []
  let server: Dynalite
  let client: TestClient

  function open(options: object = {}, port = server.port): TestClient {
    const opened = openClient(server.folder, port, options)
    clients.push(opened)
    return opened
  }
  const store: Tables['store'] = (of = client, clock = Date.now) => dynamodbStore(of, { table: TABLE, clock })

  beforeAll(async () => {
    server = await startDynalite()
    client = open()
    await store().prepare()
  })
  afterAll(async () => {
    for (const each of clients) each.destroy()
    await server?.stop()
  })

  return {
    get server() {
      return server
    },
    get client() {
      return client
    },
    document: (options, port) => sdkIn(server.folder).DynamoDBDocument.from(open({}, port), options),
    open,
    store,
    item: async (key) => (await client.getItem({ TableName: TABLE, Key: { key: { S: key } } })).Item,
  }
}
