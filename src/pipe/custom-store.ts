import { checkBatching, isStore } from '../stores/shared/validate.js'
import type { Store } from '../stores/store.js'
import { wrongKind } from '../util/validate.js'
import { remoteStore } from './remote-store.js'
import { validated } from './validated.js'

/**
 * Makes an object with a `name` and a method `apply` a store that limiters take. It returns the object
 * itself. Limiters check each outcome of `apply`: an invalid one counts as an error of the store. They cache
 * its denials, and stop calling it while it fails. If it has `batching`, they batch its operations.
 *
 * `Store` has the rules that `apply` must keep. The other builders keep most of them for you.
 *
 * Throws a `TypeError` for any other value, and for a wrong `batching`.
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
  if (store.batching !== undefined) checkBatching('customStore', store.batching)
  return remoteStore(store, validated)
}
