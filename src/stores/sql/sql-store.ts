import { retry } from '../../util/retry.js'
import type { Result } from '../operation.js'
import type { AnyOperation, AnyResult } from '../shared/apply-in-order.js'
import { batcher } from '../shared/batcher.js'
import { withSubmit } from '../shared/submit.js'
import { checkCosts, checkOperations, checkRefunds } from '../shared/validate.js'
import type { Charge, Part, Refund, Store, Verdict } from '../store.js'
import { asStoreError } from '../store-error.js'
import type { Dialect } from './dialect.js'
import { hints, isAboutRows, isDuplicate, isTemporary } from './errors.js'
import { applyToRows, lockKeys, rowKeysOf } from './operations.js'
import { purger } from './purge.js'
import { withConnection } from './with-connection.js'

/** Rows in one transaction: enough to spread its cost, few enough to hold their locks briefly. */
const MAX_ROWS = 256
/** While the server decides one batch, this process prepares the next one. They share no rows. */
const MAX_IN_FLIGHT = 2
/** A batch that waits for a row which somebody else has locked holds a connection of the user's pool. */
const MAX_UNANSWERED = 3

/** A store in a database, whose table must exist before its first charge. */
export interface SqlStore extends Store {
  /**
   * Creates the table if it does not exist, for applications that do not run the SQL themselves. Await it
   * before the first request. Rejects with `StoreError` if the table cannot be created, or cannot be used.
   */
  prepare(): Promise<void>
  /** Stops the removal of expired rows. The database stays open. */
  close(): Promise<void>
}

/** Creates a store that decides batches in transactions, and a single charge in fewer round trips. */
export function sqlStore<Connection>(dialect: Dialect<Connection>): SqlStore {
  const owner = `${dialect.name}Store`
  const hintFor = hints(dialect.name, dialect.table)
  const useConnection = <T>(use: (connection: Connection) => Promise<T>) => withConnection(dialect, use)
  const retries = dialect.maxAttempts === undefined ? {} : { maxAttempts: dialect.maxAttempts }
  const withRetry = <T>(use: (connection: Connection) => Promise<T>) =>
    retry(() => useConnection(use), { isTemporary, isProgress: isDuplicate, ...retries })
  const purge = purger((limit) => withRetry((connection) => dialect.removeExpired(connection, limit)))

  async function transact(operations: readonly AnyOperation[]): Promise<readonly AnyResult[]> {
    const keys = rowKeysOf(operations)
    if (keys.length === 0) return operations.map(() => ({ allowed: true, atMs: Date.now(), parts: [] }))
    return withRetry((connection) =>
      dialect.transact(connection, keys, (rows) => applyToRows(operations, rows)),
    )
  }

  async function decide(operations: readonly AnyOperation[]): Promise<readonly AnyResult[]> {
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

  const operations = batcher<AnyOperation, AnyResult>(
    async (operations, answer) => {
      purge.runIfDue()
      const results = await decide(operations).catch(fail)
      for (const [i, result] of results.entries()) {
        answer(i, result instanceof Error ? failure(result) : result)
      }
    },
    {
      store: dialect.name,
      maxWeight: MAX_ROWS,
      maxInFlight: MAX_IN_FLIGHT,
      maxUnanswered: MAX_UNANSWERED,
      weigh: (operation) => lockKeys(operation).length,
      lockKeys,
    },
  )

  const store: SqlStore = {
    name: dialect.name,
    async charge(charges: readonly Charge[]) {
      for (const charge of charges) checkCosts(owner, charge)
      return (await operations.submitAll(charges)) as Verdict[]
    },
    async refund(refunds: readonly Refund[]) {
      checkRefunds(owner, refunds)
      await operations.submitAll(refunds.map((refund) => ({ refund })))
    },
    async forget(keys) {
      await operations.submitAll(keys.map((forget) => ({ forget })))
    },
    async apply(changes) {
      checkOperations(owner, changes)
      return (await operations.submitAll(changes)) as Result[]
    },
    prepare: () => withRetry(dialect.prepare).catch(fail), // other processes may prepare at the same time
    close: purge.close,
  }
  return withSubmit(store, (charge, settle) => {
    checkCosts(owner, charge)
    operations.submit(charge, settle as (outcome: AnyResult | Error) => void)
  })
}

/** Returns the only part of the only operation; `undefined` if there are more of either, or no charge. */
function singlePart([operation, ...others]: readonly AnyOperation[]): Part | undefined {
  if (!Array.isArray(operation)) return undefined
  return others.length === 0 && operation.length === 1 ? operation[0] : undefined
}
