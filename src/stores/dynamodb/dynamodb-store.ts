import { callback, readOptions } from '../../options/option-table.js'
import { readTogether } from '../../options/problems.js'
import { runByKey } from '../../pipe/by-key.js'
import { remoteStore } from '../../pipe/remote-store.js'
import { plainKey } from '../shared/hash-key.js'
import { applyBy } from '../shared/run-operations.js'
import type { Store } from '../store.js'
import { dynamodbAccess } from './access.js'
import { tableOf } from './client.js'
import type { DynamoDbDocument } from './document-client.js'
import { dynamodbDocuments } from './documents.js'
import { type DynamoDb, readClient } from './read-client.js'
import { type DynamodbTableOptions, prepareTable, TABLE_ROWS } from './schema.js'

/** Options of `dynamodbStore`. */
export interface DynamodbStoreOptions extends DynamodbTableOptions {
  /** Returns milliseconds since the Unix epoch, for tests. Default: `Date.now`. */
  clock?: () => number
}

const OPTIONS = { rows: { ...TABLE_ROWS, clock: callback<() => number> } }

/** A store in DynamoDB. Its table must exist before the first operation. */
export interface DynamodbStore extends Store {
  /**
   * Creates the table if it does not exist, and waits until it is active. Rejects with a `StoreError` if
   * that fails. Await it in a script, or when a server starts. For functions, create the table beforehand.
   *
   * It needs a `DynamoDB`, because a `DynamoDBDocument` cannot create tables.
   */
  prepare(): Promise<void>
}

const TIMEOUT_MS = 1000

/**
 * Creates a store that keeps states in an Amazon DynamoDB table. It also suits functions that serve one
 * request at a time.
 *
 * - **Technique.** A charge is one conditional update without a read. It appends the charge to a log in the
 *   item of its key. All processes apply the log to the state in the same order, so charges of one key do
 *   not compete. About every twentieth charge also folds the log into the state, while others keep
 *   appending.
 * - **Bans.** A charge of a `ban` takes a read and a compare-and-swap, which is retried with backoff for up
 *   to two seconds.
 * - **Several keys.** A charge of several keys is decided key by key. If a later key denies, the earlier
 *   ones are refunded. Until then, other charges may be denied for lack of those units. No limit is ever
 *   exceeded. A transaction over all keys would cost twice as much.
 * - **Busy keys.** Operations on one key that arrive during an update share the next update.
 * - **Clock.** This process's. Synchronize the clocks of all machines to within a second.
 * - **Expiry.** DynamoDB deletes an item by its attribute `expires`, a minute or more after none of its
 *   units are in use.
 * - **Client.** `client` is a `DynamoDB` from `@aws-sdk/client-dynamodb`, or a `DynamoDBDocument` from
 *   `@aws-sdk/lib-dynamodb`. The store never closes it.
 * - **Resends.** The client must have `maxAttempts: 1`. By default, the SDK resends a request whose reply
 *   was lost, and a charge then counts twice. With such a client, every operation fails, and the error has
 *   the fix.
 *
 * Throws a `TypeError` for any other client, and for wrong options.
 *
 * @example
 * ```ts
 * import { DynamoDB } from '@aws-sdk/client-dynamodb'
 * import { rateLimit } from 'headgate'
 * import { dynamodbStore } from 'headgate/dynamodb'
 *
 * const store = dynamodbStore(new DynamoDB({ maxAttempts: 1, region: 'eu-central-1' }))
 * const api = rateLimit({ name: 'api', limit: 100, window: '1m', store })
 * ```
 */
export function dynamodbStore(
  client: DynamoDb | DynamoDbDocument,
  options: DynamodbStoreOptions = {},
): DynamodbStore {
  const [{ items, tables, check }, { table: name, clock = Date.now }] = readTogether(
    'dynamodbStore',
    () => readClient(client),
    () => readOptions('dynamodbStore', options, OPTIONS),
  )
  const table = tableOf(items, name, check)
  const applyToKey = dynamodbAccess(table, clock)
  const run = runByKey('dynamodb', () => applyToKey, plainKey, clock)
  return remoteStore({
    name: 'dynamodb',
    defaultTimeoutMs: TIMEOUT_MS,
    apply: applyBy('dynamodbStore', run, { maxKeys: Number.POSITIVE_INFINITY }),
    origin: { client, table: name },
    documents: dynamodbDocuments(table, plainKey),
    async prepare() {
      await check()
      await prepareTable(tables, name)
    },
  })
}
