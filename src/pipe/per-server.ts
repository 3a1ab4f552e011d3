import type { KeyedPolicy, Store } from '../stores/store.js'
import { isUnsent, StoreError } from '../stores/store-error.js'
import { groupBy } from '../util/group-by.js'
import { catchMaybe, type MaybePromise, settleAll } from '../util/maybe-promise.js'

/**
 * Calls a store for each of its servers with the items that live there, so that a server that is down does not
 * affect the others. Throws or rejects once all calls have ended. If no call was sent, the first of their errors
 * is thrown: only then may all items be sent again.
 */
export function performPerServer<Item extends KeyedPolicy>(
  store: Store,
  items: readonly Item[],
  perform: (items: readonly Item[]) => MaybePromise<void>,
): MaybePromise<void> {
  const groups = store.serverOf ? [...groupBy(items, ({ key }) => store.serverOf?.(key)).values()] : []
  if (groups.length <= 1) return perform(items)
  let unsent = 0
  const count = (error: unknown) => {
    if (isUnsent(error)) unsent++
    throw error
  }
  return catchMaybe(
    () => settleAll(groups, (group) => catchMaybe(() => perform(group), count)),
    (cause) => {
      if (unsent === groups.length) throw cause
      const { server } = cause as StoreError
      throw new StoreError(store.name, 'not every server could be called', { cause, server })
    },
  )
}
