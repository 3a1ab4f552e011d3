import { memoryStore } from '../stores/memory/memory-store.js'
import type { Store } from '../stores/store.js'
import { wrongKind } from '../util/validate.js'

/**
 * Named limiters of this copy of the package that have no store of their own meet here. Created for the
 * first of them.
 */
let commonStore: Store | undefined

/** The prefixes of each store that a limiter without a name has claimed. */
type UnnamedLimiters = WeakMap<Store, Set<string>>

/**
 * Where the process keeps the claims: one place for all copies of this package, which may share a store. No
 * mark on the store, which may be the user's own and frozen.
 */
const UNNAMED_ON = Symbol.for('headgate.unnamedLimiters')

function unnamedLimiters(): UnnamedLimiters {
  const shared = globalThis as { [UNNAMED_ON]?: UnnamedLimiters }
  shared[UNNAMED_ON] ??= new WeakMap()
  return shared[UNNAMED_ON]
}

/** Returns the store that a limiter works on: its own, or the one in memory that fits its name. */
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

/** Checks the option `store`. */
export function readStore(owner: string, option: string, store: unknown): Store {
  if (isStore(store)) return store
  throw wrongKind(owner, option, 'a store', store, `Did you mean store: ${storeLike(store)}?`)
}

/** The stores for the schemes of connection strings. */
const BY_SCHEME: readonly (readonly [RegExp, string])[] = [
  [/^(redis|rediss|valkey|valkeys):/i, 'redisStore(client)'],
  [/^(mysql|mysqlx|mariadb):/i, 'mysqlStore(pool)'],
  [/^(postgres|postgresql):/i, 'postgresStore(pool)'],
  [/^(memcached|memcache):/i, 'memcachedStore(client)'],
]

/** The store that a connection string is for; `memoryStore()` for all else. */
function storeLike(value: unknown): string {
  const found = BY_SCHEME.find(([scheme]) => typeof value === 'string' && scheme.test(value))
  return found?.[1] ?? 'memoryStore()'
}

function isStore(value: unknown): value is Store {
  if (typeof value !== 'object' || value === null) return false
  const { name, charge, refund, forget } = value as Partial<Store>
  return typeof name === 'string' && [charge, refund, forget].every((method) => typeof method === 'function')
}

/** Lays claim to a store for the one limiter without a name that there may be on it. Throws a `TypeError` for a second one. */
export function claim(owner: string, store: Store, prefix: string): void {
  const unnamedOn = unnamedLimiters()
  const taken = unnamedOn.get(store) ?? new Set()
  if (taken.has(prefix)) {
    throw new TypeError(
      `${owner}: this store already serves a limiter without a name, and a second one would count the same requests ` +
        "into the same keys. Give each limiter a name, such as name: 'login'.",
    )
  }
  unnamedOn.set(store, taken.add(prefix))
}
