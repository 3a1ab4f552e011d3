import { memoryStore } from '../stores/memory/memory-store.js'
import type { Store } from '../stores/store.js'
import { wrongKind } from '../util/validate.js'

/** The stores for the schemes of connection strings. */
const BY_SCHEME: readonly (readonly [RegExp, string])[] = [
  [/^(redis|rediss|valkey|valkeys):/i, 'redisStore(client)'],
  [/^(mysql|mysqlx|mariadb):/i, 'mysqlStore(pool)'],
  [/^(postgres|postgresql):/i, 'postgresStore(pool)'],
  [/^(memcached|memcache):/i, 'memcachedStore(client)'],
]

/** Returns a store. Throws a `TypeError` that suggests one for anything else. */
export function readStore(owner: string, option: string, store: unknown): Store {
  if (isStore(store)) return store
  throw wrongKind(owner, option, 'a store', store, `Did you mean store: ${suggestStore(store)}?`)
}

function isStore(value: unknown): value is Store {
  if (typeof value !== 'object' || value === null) return false
  const { name, charge, refund, forget } = value as Partial<Store>
  return typeof name === 'string' && [charge, refund, forget].every((method) => typeof method === 'function')
}

/** Suggests a store in place of a connection string, or of a store of express-rate-limit. */
function suggestStore(value: unknown): string {
  if (typeof value === 'string')
    return BY_SCHEME.find(([scheme]) => scheme.test(value))?.[1] ?? 'memoryStore()'
  const { increment } = (value ?? {}) as { increment?: unknown }
  return typeof increment === 'function' ? 'redisStore(client)' : 'memoryStore()'
}

/** Shared by the named limiters of this copy of the package that have no store of their own. */
let commonStore: Store | undefined

/** Returns a limiter's store: its own, or one in memory, which limiters with names share. */
export function claimStore(
  owner: string,
  store: Store | undefined,
  name: string | undefined,
  prefix: string,
): Store {
  if (store === undefined) {
    if (name === undefined) return memoryStore()
    commonStore ??= memoryStore()
    return commonStore
  }
  if (name === undefined) claim(owner, store, prefix)
  return store
}

/**
 * Where the process keeps the prefixes of each store that a limiter without a name has claimed: once for all
 * copies of this package, which may share a store. The store itself is not marked: it may be the user's own,
 * and frozen.
 */
const CLAIMS = Symbol.for('headgate.unnamedLimiters')

/** Claims a store for its only limiter without a name. Throws a `TypeError` for a second one. */
export function claim(owner: string, store: Store, prefix: string): void {
  const shared = globalThis as { [CLAIMS]?: WeakMap<Store, Set<string>> }
  shared[CLAIMS] ??= new WeakMap()
  const prefixes = shared[CLAIMS].get(store) ?? new Set()
  if (prefixes.has(prefix)) {
    throw new TypeError(
      `${owner}: this store already serves a limiter without a name, and a second one would count the same ` +
        "requests into the same keys. Give each limiter a name, such as name: 'login'.",
    )
  }
  shared[CLAIMS].set(store, prefixes.add(prefix))
}
