import { processWide } from '../../util/process-wide.js'
import type { Store } from '../store.js'

/** The `apply` of stores whose outcomes need no check. */
const trustedApplies = processWide('trustedStores', () => new WeakSet<Store['apply']>())

/**
 * Marks a store of this package as one whose outcomes need no check, and returns it. The mark is on its
 * `apply`, so a copy of the store with another `apply` is checked like a user's own.
 */
export function trusted<S extends Store>(store: S): S {
  trustedApplies.add(store.apply)
  return store
}

/** Returns whether the outcomes of a store need no check. */
export function isTrusted({ apply }: Store): boolean {
  return trustedApplies.has(apply)
}
