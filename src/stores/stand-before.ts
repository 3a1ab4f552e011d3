import { denialsOf } from './denials.js'
import { denyCache, freeingDenials } from './deny-cache.js'
import { type GuardedStore, type GuardOptions, guard } from './guard.js'
import { isMemoryStore } from './memory/memory-store.js'
import type { Store } from './store.js'
import { unguarded } from './unguarded.js'

/** What stands before a store. */
export interface StandBeforeOptions extends GuardOptions {
  /** 0 = the store is asked about every denial. */
  readonly denyCacheMs: number
}

/** A store with all that stands before it. */
export interface Approach {
  readonly store: GuardedStore
  /** Closes what was opened for it, and what it opened itself. */
  readonly close: () => Promise<void> | undefined
}

/**
 * A request passes the denials that are known, and the guard with its deadline and breaker. Before memory nothing stands.
 */
export function standBefore(store: Store, { denyCacheMs, ...guarding }: StandBeforeOptions): Approach {
  if (isMemoryStore(store)) return { store: unguarded(store), close: () => undefined }
  const denials = denialsOf(store)
  const freeing = freeingDenials(store, denials)
  const knowing = denyCache(guard(freeing, guarding), denials, denyCacheMs)
  return {
    store: knowing,
    close: () => store.close?.(),
  }
}
