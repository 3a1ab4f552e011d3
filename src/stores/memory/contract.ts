import type { Operation, Outcome } from '../operation.js'
import { localStatesOf } from '../shared/local-states.js'
import type { Store } from '../store.js'

/** A store in the memory of this process. It is synchronous, exact and bounded. */
export interface MemoryStore extends Store {
  readonly name: 'memory'
  apply(operations: readonly Operation[]): readonly Outcome[]
  /** How many keys the store holds. */
  readonly size: number
}

/**
 * Returns whether this is a store by `memoryStore`, also of another copy of this package. A wrapper is not.
 */
export function isMemoryStore(store: Store): store is MemoryStore {
  return store.name === 'memory' && localStatesOf(store) !== undefined
}
