import { localStatesOf } from '../stores/shared/local-states.js'
import { isStore } from '../stores/shared/validate.js'
import type { Store } from '../stores/store.js'
import { wrongKind } from '../util/validate.js'
import { hasMethods, isObject } from '../util/values.js'
import { remoteSupportOf } from './remote-support.js'

const FIX =
  "Use memoryStore(), or the store of your database, such as redisStore(client) from 'headgate/redis'."

/**
 * Returns the option if it is a store that this package or `customStore` made. Throws a `TypeError` for
 * anything else.
 */
export function readStore(owner: string, option: string, store: unknown): Store {
  if (isStore(store) && (localStatesOf(store) ?? remoteSupportOf(store))) return store
  throw wrongKind(owner, option, 'a store', store, fixFor(store))
}

/** Returns the fix for a value that a caller passed as a store. */
function fixFor(value: unknown): string {
  if (isStore(value)) return "Write customStore({ name, apply }), from 'headgate/store'."
  if (typeof value === 'function' && /Store$/.test(value.name)) return `Call it: ${value.name}(client).`
  if (!isObject(value)) return FIX
  if (hasMethods(value, 'increment', 'decrement'))
    return `It is a store of express-rate-limit, which only headgate/express-rate-limit accepts. ${FIX}`
  return FIX
}
