import { isBan } from '../policies/ban.js'
import { isSamePolicy } from '../policies/policy.js'
import type { Charge, KeyedPolicy, Part, PartVerdict, Store, Verdict } from '../stores/store.js'
import { isPromise, type MaybePromise } from '../util/maybe-promise.js'
import { RecentMap } from '../util/recent-map.js'
import type { GuardedStore } from './guarded-store.js'

/** The cache holds the denials of at least so many keys, and of twice as many at most. */
const MIN_KEYS = 16_384

/** A charge that a store denied. */
interface Denial {
  readonly charge: Charge
  readonly verdict: Verdict
  /** When the charge was sent (`performance.now()`): a denial never outlives the store's own. */
  readonly sentAtMs: number
}

/**
 * The denials of a store, in this process's memory. What was denied is denied until its `retryAfterMs` is
 * over, whatever else is taken meanwhile, and so is what costs more; only a refund or `forget` ends that
 * sooner.
 */
export class DenialCache {
  /** By the key of each part that was denied. */
  readonly #denials = new RecentMap<Denial>(MIN_KEYS)
  /** When units of a key were last refunded or forgotten. */
  readonly #invalidatedAtMs = new RecentMap<number>(MIN_KEYS)

  /**
   * Returns the verdict on a charge that one denial of less than `maxMs` ago still denies. Its figures are
   * exact for the cost that was denied, but for `remaining` of a cost above 1; a larger cost gets the same
   * times. Parts that were not denied have the figures of then, or of a fresh state.
   */
  find(charge: Charge, maxMs: number): Verdict | undefined {
    for (const { key } of charge) {
      const denial = this.#denials.get(key)
      const verdict = denial && this.#repeat(denial, charge, maxMs)
      if (verdict !== undefined) return verdict
    }
    return undefined
  }

  /** Records a denial, unless units were refunded since `sentAtMs`. An allowed charge ends older denials. */
  record(charge: Charge, verdict: Verdict, sentAtMs: number): void {
    if (verdict.allowed) {
      for (const { key, cost } of charge) if (cost > 0) this.#denials.delete(key)
    } else if (!verdict.isTentative && !hasDuplicateKeys(charge)) {
      this.#recordDenial({ charge, verdict, sentAtMs })
    }
  }

  #recordDenial(denial: Denial): void {
    for (const [i, { key }] of denial.charge.entries()) {
      const { allowed, isCounted } = denial.verdict.parts[i] as PartVerdict
      const isOutdated = (this.#invalidatedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) >= denial.sentAtMs
      if (!allowed && !isCounted && !isOutdated) this.#denials.set(key, denial)
    }
  }

  /** Drops the denials of keys whose units are refunded or forgotten. */
  invalidate(keys: readonly KeyedPolicy[]): void {
    const nowMs = performance.now()
    for (const { key } of keys) {
      this.#denials.delete(key)
      this.#invalidatedAtMs.set(key, nowMs)
    }
  }

  /** Repeats a denial, unless a part of it may be allowed by now, or a ban has to count this one. */
  #repeat(denial: Denial, charge: Charge, maxMs: number): Verdict | undefined {
    const ageMs = performance.now() - denial.sentAtMs
    const atMs = denial.verdict.atMs + ageMs
    const parts: PartVerdict[] = []
    for (const part of charge) {
      const i = denial.charge.findIndex(({ key }) => key === part.key)
      const figures = denial.verdict.parts[i]
      if (figures?.allowed === false) {
        const { policy, cost } = denial.charge[i] as Part
        const isOver =
          ageMs >= Math.min(figures.retryAfterMs, maxMs) || this.#denials.get(part.key) !== denial
        if (isOver || part.cost < cost || !isSamePolicy(policy, part.policy)) return undefined
      } else if (isBan(part.policy)) return undefined
      parts.push(figures ? figuresAfter(ageMs, figures, part) : part.policy.take(undefined, atMs, 0))
    }
    return { allowed: false, atMs, parts, source: 'deny-cache' }
  }
}

/** Returns figures `ageMs` later, if nothing else was taken. A cost above the limit is never allowed. */
function figuresAfter(ageMs: number, figures: PartVerdict, { policy, cost }: Part): PartVerdict {
  const { allowed, remaining } = figures
  const left = (ms: number) => Math.max(0, ms - ageMs)
  const retryAfterMs = allowed || cost <= policy.limit ? left(figures.retryAfterMs) : Number.POSITIVE_INFINITY
  const [resetAfterMs, moreAfterMs] = [left(figures.resetAfterMs), left(figures.moreAfterMs)]
  return { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs }
}

/** Parts of one key are denied for their cost together. */
function hasDuplicateKeys(charge: Charge): boolean {
  return charge.some(({ key }, i) => charge.findIndex((part) => part.key === key) < i)
}

const caches = new WeakMap<Store, DenialCache>()

/** Returns the denial cache of a store. Limiters that share keys in the store share the cache, too. */
export function denialCacheOf(store: Store): DenialCache {
  const cache = caches.get(store) ?? new DenialCache()
  caches.set(store, cache)
  return cache
}

/**
 * Creates a store that repeats denials of less than `maxMs` ago: with `source: 'deny-cache'`, without a
 * promise, and also while the store is down. A refund in another process counts here `maxMs` later at the
 * latest. Denials of a synchronous store are not cached.
 */
export function repeatDenials(store: GuardedStore, cache: DenialCache, maxMs: number): GuardedStore {
  if (maxMs === 0) return store
  return {
    ...store,
    charge(charge, sinceMs) {
      const denied = cache.find(charge, maxMs)
      if (denied !== undefined) return denied
      const sentAtMs = performance.now()
      const answer = store.charge(charge, sinceMs)
      if (!isPromise(answer)) return answer
      return answer.then((verdict) => {
        cache.record(charge, verdict, sentAtMs)
        return verdict
      })
    },
  }
}

/** Creates a store whose refunds and `forget` invalidate denials, whoever calls them. */
export function invalidateDenials(store: Store, cache: DenialCache): Store {
  /** Before, for charges that are sent from now on, and after, for those decided until then. */
  async function around(keys: readonly KeyedPolicy[], run: () => MaybePromise<void>): Promise<void> {
    cache.invalidate(keys)
    try {
      await run()
    } finally {
      cache.invalidate(keys)
    }
  }

  return {
    name: store.name,
    charge: (charges) => store.charge(charges),
    refund: (refunds) => around(refunds, () => store.refund(refunds)),
    forget: (keys) => around(keys, () => store.forget(keys)),
    close: async () => store.close?.(),
  }
}
