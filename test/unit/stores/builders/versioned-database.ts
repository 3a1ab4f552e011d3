import {
  type CompareAndSwapOptions,
  compareAndSwapStore,
  type OptimisticOptions,
  type OptimisticTransaction,
  optimisticStore,
  type State,
  type Store,
  type StoredState,
  type Swap,
} from 'headgate/store'
import { nextTurn } from '../../../support/next-turn.js'

interface Entry {
  readonly text: string
  readonly version: number
  readonly expiresAtMs: number
}

/** A database of texts with versions, which several processes could share. Each call takes a turn. */
export class VersionedDatabase {
  readonly entries = new Map<string, Entry>()
  readonly reads: (readonly string[])[] = []
  readonly commits: OptimisticTransaction<number>[] = []
  swaps = 0
  /** How many commits met others. */
  conflicts = 0
  #version = 0

  constructor(readonly clock: () => number = Date.now) {}

  put(key: string, text: string): void {
    this.entries.set(key, { text, version: ++this.#version, expiresAtMs: Number.POSITIVE_INFINITY })
  }

  async read(keys: readonly string[]): Promise<(StoredState<number> | undefined)[]> {
    this.reads.push(keys)
    await nextTurn()
    return keys.map((key) => {
      const entry = this.#live(key)
      return entry && { state: JSON.parse(entry.text), version: entry.version }
    })
  }

  async swap({ key, version, state, ttlMs, keepsExpiry }: Swap<number>): Promise<boolean> {
    this.swaps++
    await nextTurn()
    if (this.#live(key)?.version !== version) return false
    if (state === undefined) this.entries.delete(key)
    else this.#set(key, state, ttlMs, keepsExpiry)
    return true
  }

  async commit(transaction: OptimisticTransaction<number>): Promise<boolean> {
    this.commits.push(transaction)
    await nextTurn()
    const { checks, writes } = transaction
    if (checks.some(({ key, version }) => this.#live(key)?.version !== version)) {
      this.conflicts++
      return false
    }
    for (const { key, state, ttlMs, keepsExpiry } of writes) {
      if (state === undefined) this.entries.delete(key)
      else this.#set(key, state, ttlMs, keepsExpiry)
    }
    return true
  }

  #set(key: string, state: State, ttlMs: number, keepsExpiry = false): void {
    const { expiresAtMs: beforeMs = 0 } = this.entries.get(key) ?? {}
    const expiresAtMs = Math.max(this.clock() + ttlMs, keepsExpiry ? beforeMs : 0)
    this.entries.set(key, { text: JSON.stringify(state), version: ++this.#version, expiresAtMs })
  }

  #live(key: string): Entry | undefined {
    const entry = this.entries.get(key)
    return entry && entry.expiresAtMs > this.clock() ? entry : undefined
  }
}

/** Creates a store in the database, as each process that shares it has one. */
export function storeIn(
  database: VersionedDatabase,
  options: Partial<CompareAndSwapOptions<number>> = {},
): Store {
  return compareAndSwapStore({
    name: 'versioned',
    read: (keys) => database.read(keys),
    swap: (change) => database.swap(change),
    ...options,
  })
}

/** Creates a store of optimistic transactions in the database. */
export function optimisticStoreIn(
  database: VersionedDatabase,
  options: Partial<OptimisticOptions<number>> = {},
): Store {
  return optimisticStore<number>({
    name: 'versioned',
    read: (keys) => database.read(keys),
    commit: (transaction) => database.commit(transaction),
    clock: database.clock,
    ...options,
  })
}
