import type { Store } from '../store.js'

const CLIENT = Symbol.for('headgate.client')

/** Where a store keeps its states: two stores with the same client and table count in the same keys. */
export interface StoreClient {
  /** The user's client, pool or database. */
  readonly client: object
  /** The table, in databases that have some. */
  readonly table?: string
}

interface Marked extends Store {
  readonly [CLIENT]?: StoreClient & { readonly store: Store }
}

/**
 * Records the client of a store, and returns the store. An object that wraps the store or inherits from it has
 * no client, since its keys may be others.
 */
export function withClient<S extends Store>(store: S, client: object, table?: string): S {
  return Object.defineProperty(store, CLIENT, { value: { store, client, table } })
}

/** Returns the client of a store; `undefined` for a store in memory, and for one of the user's own. */
export function clientOf(store: Store): StoreClient | undefined {
  const mark = (store as Marked)[CLIENT]
  return mark?.store === store ? mark : undefined
}
