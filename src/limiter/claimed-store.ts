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
  const isFactory = typeof store === 'function' && /Store$/.test(store.name)
  throw wrongKind(owner, option, 'a store', store, isFactory ? `Call it: ${store.name}(client).` : FIX)
}

/**
 * Returns a limiter's store: the given one, which it may share with other limiters, or its own memory.
 * Throws a `TypeError` if a limiter without a name would share the keys of another one.
 */
export function claimStore(
  owner: string,
  store: Store | undefined,
  name: string | undefined,
  prefix: string,
): Store {
  if (store === undefined) return memoryStore()
  if (name === undefined) claim(owner, store, prefix)
  return store
}

/**
 * The tables and prefixes that unnamed limiters have claimed, by client, or by store if it has no client.
 * The claims are kept in a map because a frozen client or store cannot be marked.
 */
const claims = processWide('unnamedLimiters', () => new WeakMap<object, Set<string>>())

/**
 * Claims a prefix for one unnamed limiter, in all stores with the same client and table. Throws a
 * `TypeError` if another one has claimed it.
 */
function claim(owner: string, store: Store, prefix: string): void {
  const { client = store, table = '' } = store.origin ?? {}
  const claimed = claims.get(client) ?? new Set()
  const keys = `${table}:${prefix}`
  if (claimed.has(keys)) {
    const what = client === store ? 'this store' : "this store's client"
    throw new TypeError(
      `${owner}: ${what} already serves a limiter without a name, and a second one would count the same ` +
        'requests into the same keys. Create each limiter once, not in a handler, and give it a name, such as ' +
        "name: 'login'.",
    )
  }
  claims.set(client, claimed.add(keys))
}
