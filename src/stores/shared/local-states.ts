import type { LocalStates, Store } from '../store.js'

/**
 * Returns the shortcut to a store whose states are in this process; `undefined` for any other, or a wrapper.
 */
export function localStatesOf(store: Store): LocalStates | undefined {
  const { local, apply, batching } = store
  const isWrapper = local?.apply !== apply || batching !== undefined
  return isWrapper ? undefined : local
}
