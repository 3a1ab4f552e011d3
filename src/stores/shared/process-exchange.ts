import type { Store } from '../store.js'

/** Where processes that share a store leave notes for one another, such as the figures of a dashboard. */
export interface ProcessExchange {
  /** Writes the note of one process under a key, which expires if no note is written for `ttlMs`. */
  write(key: string, process: string, note: string, ttlMs: number): Promise<void>
  /** Returns the notes of all processes under a key, in any order. */
  read(key: string): Promise<readonly string[]>
  /** Removes the note of a process. */
  remove(key: string, process: string): Promise<void>
}

/** Registered: a second copy of this package finds the exchange of a store of this one. */
const EXCHANGE = Symbol.for('headgate.processExchange')

interface Marked extends Store {
  readonly [EXCHANGE]?: ProcessExchange
}

/** Gives a store its exchange, and returns the store. */
export function withExchange<S extends Store>(store: S, exchange: ProcessExchange): S {
  return Object.defineProperty(store, EXCHANGE, { value: exchange })
}

/** Returns the exchange of a store; `undefined` for a store that has none, such as one in memory. */
export function exchangeOf(store: Store): ProcessExchange | undefined {
  return (store as Marked)[EXCHANGE]
}
