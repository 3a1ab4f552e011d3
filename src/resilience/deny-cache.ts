import type { KeyedPolicy, Store } from '../stores/store.js'
import { isPromise, type MaybePromise } from '../util/maybe-promise.js'
import type { DenialCache } from './denial-cache.js'
import type { GuardedStore } from './guarded-store.js'

/**
 * Stands before a guarded store, and answers here what is known to be denied, for up to `maxMs` after the store said so: with
 * `source: 'deny-cache'`, without a promise, and also while the store is away. What another process gives back is noticed `maxMs` later
 * at the latest. A store that answers at once is always asked.
 */
export function denyCache(store: GuardedStore, denials: DenialCache, maxMs: number): GuardedStore {
  if (maxMs === 0) return store
  return {
    ...store,
    charge(charge, sinceMs) {
      const denied = denials.find(charge, maxMs)
      if (denied !== undefined) return denied
      const askedMs = performance.now()
      const answer = store.charge(charge, sinceMs)
      if (!isPromise(answer)) return answer
      return answer.then((verdict) => {
        denials.learn(charge, verdict, askedMs)
        return verdict
      })
    },
  }
}

/** A store whose denials are forgotten with all that is given back by way of this one, whoever gives it back. */
export function freeingDenials(store: Store, denials: DenialCache): Store {
  /** Before, for what is asked from now on, and after, for what was decided until then. */
  function freeing(held: readonly KeyedPolicy[], giveBack: () => MaybePromise<void>): MaybePromise<void> {
    const free = () => denials.free(held)
    free()
    const done = giveBack()
    return isPromise(done) ? Promise.resolve(done).finally(free) : done
  }

  return {
    name: store.name,
    charge: (charges) => store.charge(charges),
    refund: (refunds) => freeing(refunds, () => store.refund(refunds)),
    forget: (held) => freeing(held, () => store.forget(held)),
    ...(store.onLimitsLost && { onLimitsLost: store.onLimitsLost.bind(store) }),
    ...(store.close && { close: store.close.bind(store) }),
  }
}
