import { retry } from '../../util/retry.js'
import { batcher } from '../shared/batcher.js'
import { checkCharges, checkRefunds } from '../shared/validate.js'
import type { Charge, Part, Refund, Store, Verdict } from '../store.js'
import { StoreError } from '../store-error.js'
import type { Dialect } from './dialect.js'
import { CorruptRowError } from './errors.js'
import { applyOperations, lockKeys, type Operation, type Result, rowKeysOf } from './operations.js'
import { purger } from './purge.js'
import { withConnection } from './with-connection.js'

/** Rows in one transaction: enough to spread its cost, and few enough to hold their locks briefly. */
const MAX_ROWS = 256
/** While the server decides one batch, this process prepares the next one. They share no rows. */
const MAX_IN_FLIGHT = 2
/** Each batch that waits for rows which somebody else has locked keeps a connection of the user's pool. */
const MAX_STUCK = 3
/**
 * A single charge waits for a locked row as long as the server allows, even when its connection is gone.
 * Once one has failed, all go by transactions, which wait briefly, for so long.
 */
const NO_SINGLE_CHARGES_MS = 60_000

/** A store in a database, whose table has to exist before it is used. */
export interface SqlStore extends Store {
  /**
   * Creates the table if it does not exist, for applications that do not run the SQL. Await it before
   * the first request. Rejects with `StoreError` if the user of the pool lacks the permission.
   */
  prepare(): Promise<void>
  close(): Promise<void>
}

/** Creates a store that decides batches in transactions, and a single charge in fewer round trips. */
export function sqlStore<Connection>(dialect: Dialect<Connection>): SqlStore {
  const owner = `${dialect.name}Store`
  const connected = <T>(use: (connection: Connection) => Promise<T>) => withConnection(dialect, use)
  const retried = <T>(use: (connection: Connection) => Promise<T>) =>
    retry(() => connected(use), { isTemporary: dialect.isTemporary })
  const purge = purger((limit) => retried((connection) => dialect.removeExpired(connection, limit)))
  let singleFromMs = 0

  async function transact(operations: readonly Operation[]): Promise<readonly Result[]> {
    const keys = rowKeysOf(operations)
    if (keys.length === 0) return operations.map(() => ({ allowed: true, atMs: Date.now(), parts: [] }))
    let results: readonly Result[] = []
    await retried((connection) =>
      dialect.transact(connection, keys, (rows) => {
        const applied = applyOperations(operations, rows)
        results = applied.results
        return applied.changes
      }),
    )
    return results
  }

  async function decide(operations: readonly Operation[]): Promise<readonly Result[]> {
    const part = performance.now() < singleFromMs ? undefined : singlePart(operations)
    try {
      const verdict = part && (await connected((connection) => dialect.chargeSingle(connection, part)))
      if (verdict) return [verdict]
    } catch (error) {
      if (!dialect.isTemporary(error)) {
        singleFromMs = performance.now() + NO_SINGLE_CHARGES_MS
        throw error
      }
    }
    return transact(operations)
  }

  function fail(cause: unknown): never {
    throw asStoreError(dialect, cause)
  }

  const submit = batcher<Operation, Result>(
    async (operations, answer) => {
      purge.runIfDue()
      const results = await decide(operations).catch(fail)
      for (const [i, result] of results.entries()) {
        answer(i, result instanceof Error ? asStoreError(dialect, result) : result)
      }
    },
    {
      maxWeight: MAX_ROWS,
      maxInFlight: MAX_IN_FLIGHT,
      maxUnanswered: MAX_STUCK,
      weigh: (operation) => ('charge' in operation ? operation.charge.length : 1),
      lockKeys,
    },
  )

  return {
    name: dialect.name,
    async charge(charges: readonly Charge[]) {
      checkCharges(owner, charges)
      return (await submit(charges.map((charge) => ({ charge })))) as Verdict[]
    },
    async refund(refunds: readonly Refund[]) {
      checkRefunds(owner, refunds)
      await submit(refunds.map((refund) => ({ refund })))
    },
    async forget(keys) {
      await submit(keys.map((forget) => ({ forget })))
    },
    prepare: () => retried(dialect.prepare).catch(fail), // other processes may prepare at the same time
    close: purge.close,
  }
}

/** Returns the part if there is one charge, and it has one part. */
function singlePart([operation, ...others]: readonly Operation[]): Part | undefined {
  if (operation === undefined || others.length > 0 || !('charge' in operation)) return undefined
  return operation.charge.length === 1 ? operation.charge[0] : undefined
}

function asStoreError(
  { name, hintFor }: Pick<Dialect<never>, 'name' | 'hintFor'>,
  cause: unknown,
): StoreError {
  // An error of several addresses of a host has one for each.
  const [first = cause] = (cause as { errors?: readonly unknown[] } | null)?.errors ?? []
  const message = first instanceof Error ? first.message : String(first)
  const hint = hintFor(cause)
  const answered = cause instanceof CorruptRowError
  return new StoreError(name, hint ? `${message}. ${hint}` : message, { cause, answered })
}
