import { type Store, type TransactionOptions, type TransactionWrite, transactionStore } from 'headgate/store'
import { nextTurn } from '../../../support/next-turn.js'

/** A transaction and the keys that it has locked. */
interface Transaction {
  readonly locked: string[]
  readonly writes: TransactionWrite[]
}

/** What a driver throws if two transactions wait for one another. */
export class DeadlockError extends Error {}

/** A database of texts that locks rows, missing ones included, and detects deadlocks at once. */
export class LockingDatabase {
  readonly rows = new Map<string, string>()
  readonly #locks = new Map<string, Transaction>()
  transactions = 0
  deadlocks = 0

  constructor(readonly clock: () => number = Date.now) {}

  async transaction<T>(run: (transaction: Transaction) => T | Promise<T>): Promise<T> {
    this.transactions++
    const transaction: Transaction = { locked: [], writes: [] }
    try {
      const result = await run(transaction)
      await nextTurn()
      for (const { key, state } of transaction.writes) {
        if (state === undefined) this.rows.delete(key)
        else this.rows.set(key, JSON.stringify(state))
      }
      return result
    } finally {
      for (const key of transaction.locked) this.#locks.delete(key)
    }
  }

  async lockAndRead({ locked }: Transaction, keys: readonly string[]) {
    for (const key of keys) {
      for (let turns = 0; this.#locks.has(key); turns++) {
        if (turns < 5) await nextTurn()
        else {
          this.deadlocks++
          throw new DeadlockError('deadlock detected')
        }
      }
      this.#locks.set(key, { locked, writes: [] })
      locked.push(key)
    }
    await nextTurn()
    const found = keys.flatMap((key) => {
      const text = this.rows.get(key)
      return text === undefined ? [] : [[key, JSON.parse(text)] as const]
    })
    return { states: new Map<string, unknown>(found), nowMs: this.clock() }
  }
}

/** Creates a store in the database, as each process that shares it has one. */
export function storeIn(
  database: LockingDatabase,
  options: Partial<TransactionOptions<Transaction>> = {},
): Store {
  return transactionStore<Transaction>({
    name: 'locking',
    transaction: (run) => database.transaction(run),
    lockAndRead: (transaction, keys) => database.lockAndRead(transaction, keys),
    async write({ writes }, changes) {
      await nextTurn()
      writes.push(...changes)
    },
    isTemporary: (error) => error instanceof DeadlockError,
    ...options,
  })
}
