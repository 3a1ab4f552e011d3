import { isBan } from '../policies/ban.js'
import { isConcurrency } from '../policies/concurrency.js'
import { isSamePolicy } from '../policies/policy.js'
import type { Charge, KeyedPolicy, Part, PartVerdict, Store, Verdict } from '../stores/store.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { weakMemo } from '../util/memo.js'
import { RecentMap } from '../util/recent-map.js'
import type { GuardedStore } from './guarded-store.js'

/** The cache holds the denials of at least so many keys, and at most twice as many. */
const MIN_KEYS = 16_384

/** A charge that a store denied. */
interface Denial {
  readonly charge: Charge
  readonly verdict: Verdict
  /** When the charge was sent, by `performance.now()`: its times count from there. */
  readonly sentAtMs: number
  /** The denial is repeated until then, even where its `retryAfterMs` is over before. */
  readonly minUntilMs: number
}

/**
 * The denials of a store, in this process's memory. A charge that was denied stays denied until its
 * `retryAfterMs` is over, and so does one that costs more; only a refund, `forget` or an operation ends that sooner.
 */
export class DenialCache {
  /** By the key of each part that was denied. */
  readonly #denials = new RecentMap<Denial>(MIN_KEYS)
  /** When a key was last refunded, forgotten or changed. */
  readonly #invalidatedAtMs = new RecentMap<number>(MIN_KEYS)

  /**
   * Returns the cached verdict on a charge, if a denial sent less than `maxMs` ago still holds for it. Its
   * figures are exact for the denied cost, except `remaining` if that is above 1. A larger cost gets the
   * same times. Other parts get the figures of that time, or those of a fresh state.
   */
  find(charge: Charge, maxMs: number): Verdict | undefined {
    if (this.#denials.isEmpty) return undefined
    for (const { key } of charge) {
      const denial = this.#denials.get(key)
      const verdict = denial && this.#repeat(denial, charge, maxMs)
      if (verdict !== undefined) return verdict
    }
    return undefined
  }

  /**
   * Records a denial for `minMs` at least, unless units were refunded since `sentAtMs`. An allowed charge
   * ends older denials.
   */
  record(charge: Charge, verdict: Verdict, sentAtMs: number, minMs = 0): void {
    if (verdict.allowed) {
      if (this.#denials.isEmpty) return
      for (const { key, cost } of charge) if (cost > 0) this.#denials.delete(key)
      return
    }
    const keys = new Set(charge.map(({ key }) => key))
    // Parts of one key are denied for their cost together, and say nothing about each alone.
    if (verdict.isTentative || keys.size < charge.length) return
    const denial = { charge, verdict, sentAtMs, minUntilMs: performance.now() + minMs }
    for (const [i, { key, policy }] of charge.entries()) {
      if (isConcurrency(policy)) continue // a release may end it at any moment
      const { allowed, isCounted } = verdict.parts[i] as PartVerdict
      const isOutdated = (this.#invalidatedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) >= sentAtMs
      if (!allowed && !isCounted && !isOutdated) this.#denials.set(key, denial)
    }
  }

  /** Drops the denials of keys that are refunded, forgotten or changed. */
  invalidate(keys: readonly KeyedPolicy[]): void {
    const nowMs = performance.now()
    for (const { key } of keys) {
      this.#denials.delete(key)
      this.#invalidatedAtMs.set(key, nowMs)
    }
  }

  #repeat(denial: Denial, charge: Charge, maxMs: number): Verdict | undefined {
    const nowMs = performance.now()
    const parts: PartVerdict[] = []
    for (const part of charge) {
      const figures = this.#figuresOf(part, denial, nowMs, maxMs)
      if (figures === undefined) return undefined
      parts.push(figures)
    }
    const atMs = denial.verdict.atMs + nowMs - denial.sentAtMs
    return { allowed: false, atMs, parts, source: 'deny-cache' }
  }

  /** Returns nothing where the part may be allowed by now, or a ban has to count it. */
  #figuresOf(part: Part, denial: Denial, nowMs: number, maxMs: number): PartVerdict | undefined {
    const { charge, verdict, sentAtMs, minUntilMs } = denial
    const i = charge.findIndex(({ key }) => key === part.key)
    const ageMs = nowMs - sentAtMs
    const figures = verdict.parts[i]
    if (figures?.allowed !== false) {
      if (isBan(part.policy)) return undefined
      return figures ? figuresAfter(ageMs, figures, 0) : part.policy.take(undefined, verdict.atMs + ageMs, 0)
    }
    const { policy, cost } = charge[i] as Part
    const isOver = ageMs >= Math.min(figures.retryAfterMs, maxMs) && nowMs >= minUntilMs
    if (isOver || this.#denials.get(part.key) !== denial) return undefined
    if (part.cost < cost || !isSamePolicy(policy, part.policy)) return undefined
    const leftMs = Math.max(figures.retryAfterMs - ageMs, minUntilMs - nowMs)
    return figuresAfter(ageMs, figures, part.cost > policy.limit ? Number.POSITIVE_INFINITY : leftMs)
  }
}

/** Returns figures `ageMs` later, if nothing else was taken. */
function figuresAfter(ageMs: number, figures: PartVerdict, retryAfterMs: number): PartVerdict {
  const { allowed, remaining } = figures
  const resetAfterMs = Math.max(0, figures.resetAfterMs - ageMs)
  const moreAfterMs = Math.max(0, figures.moreAfterMs - ageMs)
  return { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs }
}

/** Returns the denial cache of a store. Limiters that share keys in the store share the cache, too. */
export const denialCacheOf = weakMemo((_store: Store) => new DenialCache())

/**
 * Creates a store that repeats the denials in a cache: with `source: 'deny-cache'`, without a promise, and
 * also while the store is down. A denial is repeated for `maxMs` at most since its charge was sent.
 *
 * A refund, `forget` and an operation invalidate denials, whichever limiter calls them. One in another process
 * counts here `maxMs` later at the latest.
 */
export function repeatDenials(store: GuardedStore, cache: DenialCache, maxMs: number): GuardedStore {
  /** Invalidates at once, for charges sent so far, and again when done, for charges sent meanwhile. */
  async function invalidateFor<T>(keys: readonly KeyedPolicy[], done: MaybePromise<T>): Promise<T> {
    cache.invalidate(keys)
    try {
      return await done
    } finally {
      cache.invalidate(keys)
    }
  }

  const { change } = store
  return {
    ...store,
    charge: (charge, settle) => cache.find(charge, maxMs) ?? store.charge(charge, settle),
    refund: async (refunds) => invalidateFor(refunds, store.refund(refunds)),
    forget: async (keys) => invalidateFor(keys, store.forget(keys)),
    change: change && (async (operation) => invalidateFor([operation], change(operation))),
  }
}
