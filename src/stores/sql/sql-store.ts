import { remoteStore } from '../../pipe/remote-store.js'
import { retry } from '../../util/retry.js'
import { rowLockStore } from '../builders/transaction-store.js'
import type { Batching, Store } from '../store.js'
import { asStoreError, asUnsent } from '../store-error.js'
import { changesOf } from './changes.js'
import type { Dialect } from './dialect.js'
import { sqlDocuments } from './documents.js'
import { hints, isContention, isDuplicate, isTemporary } from './errors.js'
import { purger } from './purge.js'
import { rowKey } from './table.js'
import { withConnection } from './with-connection.js'

/**
 * 256 rows spread the cost of a transaction, and hold their locks briefly. While the server decides one
 * batch, this process prepares the next one. A batch that waits for a row lock of another process holds a
 * connection of the user's pool, so at most three wait.
 */
const BATCHING: Batching = { maxKeys: 256, maxInFlight: 2, maxPending: 3, locksKeys: true }

/** A store in a database. Its tables must exist before the first operation. */
export interface SqlStore extends Store {
  /**
   * Creates the tables if they do not exist. Await it before the first request, unless your migrations run
   * the SQL. Rejects with `StoreError` if a table cannot be created, or cannot be used.
   */
  prepare(): Promise<void>
  /** Stops the removal of expired rows. The database stays open. */
  close(): Promise<void>
}

/** Creates a store that applies a batch in a transaction, but decides some charges in fewer round trips. */
export function sqlStore<Connection, Transaction>(dialect: Dialect<Connection, Transaction>): SqlStore {
  const { name, chargeEach } = dialect
  const hintFor = hints(name, dialect.table)
  const toStoreError = (error: unknown) =>
    asStoreError(name, error, { hint: hintFor(error), replied: isContention(error) })
  const useConnection = <T>(use: (connection: Connection) => Promise<T>) =>
    withConnection(dialect, use, (error) => asUnsent(toStoreError(error)))
  const withRetry = <T>(use: (connection: Connection) => Promise<T>) =>
    retry(() => useConnection(use), { isTemporary, isProgress: isDuplicate })
  const purge = purger((limit) => withRetry((connection) => dialect.removeExpired(connection, limit)))

  const store = rowLockStore<Transaction>({
    name,
    batching: BATCHING,
    transaction: (run) => useConnection((connection) => dialect.transact(connection, run)),
    lockAndRead: dialect.lock,
    write: (transaction, writes) => dialect.write(transaction, changesOf(writes)),
    isTemporary,
    isDuplicate,
    toStoreError,
    storageKey: rowKey,
    ...(chargeEach && {
      chargeEach: (charges) => useConnection((connection) => chargeEach(connection, charges)),
    }),
  })

  const documentHintFor = hints(name, dialect.documents.table)
  const documents = sqlDocuments(dialect.documents, (use) =>
    withRetry(use).catch((error) => {
      throw asStoreError(name, error, { hint: documentHintFor(error) }) // after contention, a change is tried again
    }),
  )

  return remoteStore({
    ...store,
    documents,
    apply(operations, settle) {
      purge.runIfDue()
      return store.apply(operations, settle)
    },
    async prepare() {
      try {
        await withRetry(dialect.prepare) // other processes may prepare at the same time
      } catch (error) {
        throw toStoreError(error)
      }
    },
    close: purge.close,
  })
}
