import { memoryStore } from '../stores/memory/memory-store.js'
import { isStore } from '../stores/shared/validate.js'
import type { Store } from '../stores/store.js'
import { processWide } from '../util/process-wide.js'
import { wrongKind } from '../util/validate.js'

const FIX =
  "Use memoryStore(), or the store of your database, such as redisStore(client) from 'headgate/redis'."

/** Returns a store. Throws a `TypeError` for anything else. */
export function readStore(owner: string, option: string, store: unknown): Store {
  if (isStore(store)) return store
  throw wrongKind(owner, option, 'a store', store, FIX)
}

/** Returns a limiter's store: its own, or one in memory, which limiters with names share. */
export function claimStore(
  owner: string,
  store: Store | undefined,
  name: string | undefined,
  prefix: string,
): Store {
  if (store !== undefined) {
    if (name === undefined) claim(owner, store, prefix)
    return store
  }
  if (name === undefined) return memoryStore()
  return processWide('commonStore', () => memoryStore())
}

/**
 * The prefixes of each store that limiters without a name have claimed. The store itself is not marked: it
 * may be the user's own, and frozen.
 */
const claims = processWide('unnamedLimiters', () => new WeakMap<Store, Set<string>>())

/** Claims a store for its only limiter without a name. Throws a `TypeError` for a second one. */
function claim(owner: string, store: Store, prefix: string): void {
  const prefixes = claims.get(store) ?? new Set()
  if (prefixes.has(prefix)) {
    throw new TypeError(
      `${owner}: this store already serves a limiter without a name, and a second one would count the same ` +
        "requests into the same keys. Give each limiter a name, such as name: 'login'.",
    )
  }
  claims.set(store, prefixes.add(prefix))
}
