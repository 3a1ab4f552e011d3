import { createMemory } from '../stores/memory/create-memory.js'
import type { Store } from '../stores/store.js'
import { processWide } from '../util/process-wide.js'

/** A limiter's store, until `releaseStore` is called. */
export interface ClaimedStore {
  readonly store: Store
  /** Lets another limiter without a name use the store. Does nothing the second time. */
  releaseStore(): void
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
): ClaimedStore {
  if (store === undefined) return { store: createMemory().store, releaseStore() {} }
  return { store, releaseStore: name === undefined ? claim(owner, store, prefix) : () => {} }
}

/**
 * The tables and prefixes that unnamed limiters have claimed, by client, or by store if it has no client.
 * The claims are kept in a map because a frozen client or store cannot be marked.
 */
const claims = processWide('unnamedLimiters', () => new WeakMap<object, Set<string>>())

/**
 * Claims a prefix for one unnamed limiter, in all stores with the same client and table. Throws a
 * `TypeError` if another one has claimed it. Returns the function that ends the claim.
 */
function claim(owner: string, store: Store, prefix: string): () => void {
  const { client = store, table = '' } = store.origin ?? {}
  const claimed = claims.get(client) ?? new Set()
  const keys = `${table}:${prefix}`
  if (claimed.has(keys)) {
    const what = client === store ? 'this store' : "this store's client"
    throw new TypeError(
      `${owner}: ${what} already serves a limiter without a name, and a second one would count in the same ` +
        "keys. Create each limiter once, not in a handler, and give it a name, such as name: 'login'. In tests, " +
        'close the limiter of the previous test.',
    )
  }
  claims.set(client, claimed.add(keys))
  let isHeld = true
  return () => {
    if (isHeld) claimed.delete(keys) // a later call must not end the claim of the next limiter
    isHeld = false
  }
}
