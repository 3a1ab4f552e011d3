import { batcher } from '../shared/batcher.js'
import { checkCharges, checkRefunds } from '../shared/validate.js'
import type { Charge, Part, Refund, Store, Verdict } from '../store.js'
import { StoreError } from '../store-error.js'
import type { Database } from './dialect.js'
import { Unreadable } from './errors.js'
import { doWork, namesHeldBy, type Result, rowKeysOf, type Work, weightOf } from './operations.js'
import { purger } from './purge.js'
import { attempts } from './retry.js'

/** Rows in one transaction, counted by each part of a charge: enough to spread its cost, and few enough not to keep their locks for long. */
const MAX_ROWS = 256
/** While the server decides one batch, this process makes the next one. They share no rows. */
const MAX_IN_FLIGHT = 2
/** Batches that wait for rows which somebody else has locked keep a connection of the user's pool each. */
const MAX_STUCK = 3
/** A lone charge waits for a locked row for as long as the server lets it. After one has failed, they all go by transactions for a while. */
const CAREFUL_MS = 60_000

/** A store on a database, whose table has to be there before it is used. */
export interface SqlStore extends Store {
  /**
   * Creates the table where there is none, with all that it needs; for those who do not run the SQL themselves. To be awaited before
   * the first request. Rejects with `StoreError` where the user of the pool may not do that.
   */
  prepare(): Promise<void>
  close(): Promise<void>
}

/** Decides batches in transactions on the database, and a lone charge by what is faster there. */
export function sqlStore(database: Database): SqlStore {
  const owner = `${database.name}Store`
  const purge = purger((most) => attempts(() => database.removeExpired(most), database.isTemporary))
  let carefulUntilMs = 0

  async function inTransaction(works: readonly Work[]): Promise<readonly Result[]> {
    const keys = rowKeysOf(works)
    if (keys.length === 0) return emptyVerdicts(works)
    let results: readonly Result[] = []
    await attempts(
      () =>
        database.transact(keys, (found) => {
          const done = doWork(works, found)
          results = done.results
          return done.changes
        }),
      database.isTemporary,
    )
    return results
  }

  /** What chargeAlone leaves undone, others were in the way of. */
  async function decide(works: readonly Work[]): Promise<readonly Result[]> {
    const part = performance.now() < carefulUntilMs ? undefined : lonePart(works)
    try {
      const verdict = part && (await database.chargeAlone(part))
      if (verdict) return [verdict]
    } catch (error) {
      if (!database.isTemporary(error)) {
        carefulUntilMs = performance.now() + CAREFUL_MS
        throw error
      }
    }
    return inTransaction(works)
  }

  function fail(cause: unknown): never {
    throw asStoreError(database, cause)
  }

  const ask = batcher<Work, Result>(
    async (works, answer) => {
      purge.notice()
      const results = await decide(works).catch(fail)
      for (const [place, result] of results.entries()) {
        answer(place, result instanceof Error ? asStoreError(database, result) : result)
      }
    },
    {
      maxWeight: MAX_ROWS,
      maxInFlight: MAX_IN_FLIGHT,
      maxUnanswered: MAX_STUCK,
      weigh: weightOf,
      lockKeys: namesHeldBy,
    },
  )

  return {
    name: database.name,
    async charge(charges: readonly Charge[]) {
      checkCharges(owner, charges)
      return (await ask(charges.map((charge) => ({ charge })))) as Verdict[]
    },
    async refund(refunds: readonly Refund[]) {
      checkRefunds(owner, refunds)
      await ask(refunds.map((refund) => ({ refund })))
    },
    async forget(held) {
      await ask(held.map((forget) => ({ forget })))
    },
    prepare: () => attempts(database.prepare, database.isTemporary).catch(fail), // others prepare as well
    close: () => purge.close(),
  }
}

function lonePart(works: readonly Work[]): Part | undefined {
  const [work] = works
  if (works.length !== 1 || work === undefined || !('charge' in work)) return undefined
  return work.charge.length === 1 ? work.charge[0] : undefined
}

function emptyVerdicts(works: readonly Work[]): readonly Result[] {
  return works.map(() => ({ allowed: true, atMs: Date.now(), parts: [] }))
}

function asStoreError(database: Database, cause: unknown): StoreError {
  const [first = cause] = (cause as { errors?: readonly unknown[] } | null)?.errors ?? [] // one for each address of a host
  const message = first instanceof Error ? first.message : String(first)
  const mend = database.hintFor(cause)
  const answered = cause instanceof Unreadable
  return new StoreError(database.name, mend ? `${message}. ${mend}` : message, { cause, answered })
}
