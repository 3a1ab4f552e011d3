import type { Charge, Store, Verdict } from '../store.js'

/** Decides one charge, and calls `settle` once, later, with the verdict or a `StoreError`. */
export type Submit = (charge: Charge, settle: (outcome: Verdict | Error) => void) => void

const SUBMIT = Symbol.for('headgate.submit')

interface Marked extends Store {
  readonly [SUBMIT]?: { readonly store: Store; readonly submit: Submit }
}

/**
 * Adds `submit` to a store that batches the charges of all callers, and returns the store: a promise for
 * each charge would cost as much as the charge. An object that wraps the store or inherits from it has no
 * `submit`, since its `charge` may do more.
 */
export function withSubmit<S extends Store>(store: S, submit: Submit): S {
  return Object.defineProperty(store, SUBMIT, { value: { store, submit } })
}

/** Returns how to submit a charge to a store; `undefined` if it only has `charge`. */
export function submitOf(store: Store): Submit | undefined {
  const mark = (store as Marked)[SUBMIT]
  return mark?.store === store ? mark.submit : undefined
}
