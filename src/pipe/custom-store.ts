import { checkBatching, checkDefaultTimeout, isStore } from '../stores/shared/validate.js'
import type { Store } from '../stores/store.js'
import { wrongKind } from '../util/validate.js'
import { remoteStore } from './remote-store.js'
import { validatedApply } from './validated.js'

/**
 * Turns an object with a `name` and an `apply` method into a store that limiters accept. Returns the same
 * object. Limiters check each outcome of `apply`, and treat an invalid one as an error of the store. They
 * also batch operations if the object has `batching`, cache denials, and stop calling the store while it
 * fails.
 *
 * The comment on `Store` lists the rules that `apply` must follow. The other builders follow most of them
 * for you.
 *
 * Throws a `TypeError` for any other value, and for a wrong `batching` or `defaultTimeoutMs`.
 *
 * @example
 * ```ts
 * import { customStore, StoreError } from 'headgate/store'
 *
 * export const down = customStore({
 *   name: 'down',
 *   apply: async () => {
 *     throw new StoreError('down', 'connection refused')
 *   },
 * })
 * ```
 */
export function customStore<S extends Store>(store: S): S {
  if (!isStore(store)) {
    const fix = 'Write customStore({ name, apply }).'
    throw wrongKind('customStore', 'store', 'an object with name and apply', store, fix)
  }
  const { batching, defaultTimeoutMs } = store
  if (batching !== undefined) checkBatching('customStore', batching)
  if (defaultTimeoutMs !== undefined) checkDefaultTimeout('customStore', defaultTimeoutMs)
  return remoteStore(store, validatedApply)
}
