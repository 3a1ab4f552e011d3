import type { MaybePromise } from '../../util/maybe-promise.js'
import { show } from '../../util/validate.js'
import type { StoreError } from '../store-error.js'

/** A state in a database, with its version. Each write must change the version. */
export interface StoredState<Version> {
  /**
   * What was written. `undefined` if the key holds no state, but has a version. If it is anything else, the
   * operations on the key fail.
   */
  readonly state: unknown
  readonly version: Version
}

/** Returns what a database holds under each key, in order. */
export type ReadStored<Version> = (
  keys: readonly string[],
) => MaybePromise<readonly (StoredState<Version> | StoreError | undefined)[]>

/** Returns a `read` that rejects with a `TypeError` unless it returns an element for each key. */
export function checkedRead<Version>(read: ReadStored<Version>) {
  return async (keys: readonly string[]) => {
    const stored = await read(keys)
    const isList: boolean = Array.isArray(stored)
    if (isList && stored.length === keys.length) return stored
    throw new TypeError(`read must return an array with an element for each key, got ${show(stored)}`)
  }
}
