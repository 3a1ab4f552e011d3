import { retry } from '../../util/retry.js'
import type { Operation, Part, Result } from '../operation.js'
import { applyBy, type Run } from '../shared/run.js'
import { checkOperations } from '../shared/validate.js'
import type { Batching, Store } from '../store.js'
import { asStoreError } from '../store-error.js'
import type { Dialect } from './dialect.js'
import { hints, isAboutRows, isDuplicate, isTemporary } from './errors.js'
import { applyToRows, rowKeysOf } from './operations.js'
import { purger } from './purge.js'
import { withConnection } from './with-connection.js'

/**
 * 256 rows spread the cost of a transaction, and hold their locks briefly. While the server decides one batch,
 * this process prepares the next one. A batch that waits for a row lock of another process holds a
 * connection of the user's pool, so at most three wait.
 */
const BATCHING: Batching = { maxKeys: 256, maxInFlight: 2, maxUnanswered: 3, locksKeys: true }

/** A store in a database, whose table must exist before the first operation. */
export interface SqlStore extends Store {
  /**
   * Creates the table if it does not exist, for applications that do not run the SQL themselves. Await it
   * before the first request. Rejects with `StoreError` if the table cannot be created, or cannot be used.
   */
  prepare(): Promise<void>
  /** Stops the removal of expired rows. The database stays open. */
  close(): Promise<void>
}

/** Creates a store that applies a batch in a transaction, and a single charge in fewer round trips. */
export function sqlStore<Connection>(dialect: Dialect<Connection>): SqlStore {
  const owner = `${dialect.name}Store`
  const hintFor = hints(dialect.name, dialect.table)
  const useConnection = <T>(use: (connection: Connection) => Promise<T>) => withConnection(dialect, use)
  const retries = dialect.maxAttempts === undefined ? {} : { maxAttempts: dialect.maxAttempts }
  const withRetry = <T>(use: (connection: Connection) => Promise<T>) =>
    retry(() => useConnection(use), { isTemporary, isProgress: isDuplicate, ...retries })
  const purge = purger((limit) => withRetry((connection) => dialect.removeExpired(connection, limit)))

  async function transact(operations: readonly Operation[]): Promise<readonly (Result | Error)[]> {
    const keys = rowKeysOf(operations)
    if (keys.length === 0)
      return operations.map(() => ({ type: 'charge', allowed: true, atMs: Date.now(), parts: [] }))
    return withRetry((connection) =>
      dialect.transact(connection, keys, (rows) => applyToRows(operations, rows)),
    )
  }

  async function decide(operations: readonly Operation[]): Promise<readonly (Result | Error)[]> {
    const { chargeSingle } = dialect
    const part = chargeSingle && singlePart(operations)
    try {
      const verdict = part && (await useConnection((connection) => chargeSingle(connection, part)))
      if (verdict) return [verdict]
    } catch (error) {
      if (!isTemporary(error)) throw error
    }
    return transact(operations)
  }

  const failure = (cause: unknown) =>
    asStoreError(dialect.name, cause, {
      hint: hintFor(cause),
      answered: isAboutRows(cause),
    })
  const fail = (cause: unknown): never => {
    throw failure(cause)
  }

  const run: Run = async (operations, answer) => {
    const results = await decide(operations).catch(fail)
    for (const [i, result] of results.entries()) answer(i, result instanceof Error ? failure(result) : result)
  }
  const apply = applyBy(run, BATCHING.maxKeys)

  return {
    name: dialect.name,
    batching: BATCHING,
    apply(operations, settle) {
      checkOperations(owner, operations)
      purge.runIfDue()
      return apply(operations, settle)
    },
    prepare: () => withRetry(dialect.prepare).catch(fail), // other processes may prepare at the same time
    close: purge.close,
  }
}

/** Returns the only part of the only operation; `undefined` if there are more of either, or no charge. */
function singlePart([operation, ...others]: readonly Operation[]): Part | undefined {
  if (operation?.type !== 'charge' || others.length > 0) return undefined
  return operation.parts.length === 1 ? operation.parts[0] : undefined
}
