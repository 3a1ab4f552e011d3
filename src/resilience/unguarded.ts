import type { MemoryStore } from '../stores/memory/memory-store.js'
import type { Refund, Verdict } from '../stores/store.js'
import { asStoreError } from '../stores/store-error.js'
import type { GuardedStore } from './guarded-store.js'

/** Memory as a guarded store: it answers at once, so it is asked without ado. What a clock or a policy of the user's throws is a `StoreError`. */
export function unguarded(store: MemoryStore): GuardedStore {
  function refund(refunds: readonly Refund[]): void {
    try {
      store.refund(refunds)
    } catch (cause) {
      throw asStoreError(store.name, cause)
    }
  }

  return {
    name: store.name,
    state: () => 'closed',
    charge(charge) {
      try {
        return store.charge([charge])[0] as Verdict
      } catch (cause) {
        throw asStoreError(store.name, cause)
      }
    },
    refund,
    forget: store.forget,
    settled: async () => {},
  }
}
