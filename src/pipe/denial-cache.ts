import { isSamePolicy } from '../policies/policy.js'
import {
  type ChargeResult,
  givesUnitsBack,
  keysOf,
  type Operation,
  type Outcome,
  type Part,
  type PartResult,
} from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import { weakMemo } from '../util/memo.js'
import { RecentMap } from '../util/recent-map.js'
import type { DenialTimes } from './lease/leases.js'

/** The cache holds the denials of at least this many keys, and at most twice as many. */
const MIN_KEYS = 16_384

/** A charge that a store denied. */
interface Denial {
  readonly charged: readonly Part[]
  readonly verdict: ChargeResult
  /** When the charge was sent, by `performance.now()`: its times count from there. */
  readonly sentAtMs: number
  /** Repeated at least until then, even if `retryAfterMs` ends earlier. */
  readonly minUntilMs: number
}

/**
 * The denials of a store, in this process's memory. A denied charge, or one that costs more, stays denied
 * until its `retryAfterMs` ends. Only a refund, a reward or `forget` ends it sooner.
 *
 * An operation that gives units back invalidates denials, whichever limiter sends it. It does so twice: when
 * it is sent, because of charges in flight, and when it is done, because of charges sent meanwhile. One sent
 * by another process takes effect here within `maxMs`.
 */
export class DenialCache {
  /** By the key of each part that was denied. */
  readonly #denials = new RecentMap<Denial>(MIN_KEYS)
  /** When units of a key were last given back. */
  readonly #invalidatedAtMs = new RecentMap<number>(MIN_KEYS)

  /** Sees an operation before it is sent. Returns a charge's cached verdict, even while the store is down. */
  before(operation: Operation, { maxMs }: DenialTimes): ChargeResult | undefined {
    if (operation.type === 'charge')
      return this.#denials.isEmpty ? undefined : this.find(operation.parts, maxMs)
    this.invalidate(operation)
    return undefined
  }

  /** Sees an outcome that came later. Those known at once are not recorded. */
  after(operation: Operation, outcome: Outcome, sentAtMs: number, { minMs, maxMs }: DenialTimes): void {
    if (operation.type !== 'charge') this.invalidate(operation)
    else if (maxMs > 0 && !(outcome instanceof Error)) {
      const verdict = outcome as ChargeResult
      if (!verdict.allowed || !this.#denials.isEmpty) this.record(operation.parts, verdict, sentAtMs, minMs)
    }
  }

  /**
   * Returns the cached verdict on a charge, if a denial sent less than `maxMs` ago still holds for it. Its
   * figures are exact for the denied cost, except that `remaining` may be out of date if the cost is above
   * 1. A larger cost gets the same times. A part that was not denied gets the figures that it had in the
   * cached denial. A part that the denied charge did not have gets those of a fresh state.
   */
  find(charged: readonly Part[], maxMs: number): ChargeResult | undefined {
    for (const { key } of charged) {
      const denial = this.#denials.get(key)
      const verdict = denial && this.#repeat(denial, charged, maxMs)
      if (verdict !== undefined) return verdict
    }
    return undefined
  }

  /**
   * Records a denial for at least `minMs`, unless units were given back since `sentAtMs`. An allowed charge
   * ends older denials of its keys.
   */
  record(charged: readonly Part[], verdict: ChargeResult, sentAtMs: number, minMs = 0): void {
    if (verdict.allowed) {
      for (const { key, cost } of charged) if (cost > 0) this.#denials.delete(key)
      return
    }
    const keys = new Set(charged.map(({ key }) => key))
    // Parts that share a key are denied for their total cost, which says nothing about each.
    if (verdict.isTentative || keys.size < charged.length) return
    const denial = { charged, verdict, sentAtMs, minUntilMs: performance.now() + minMs }
    for (const [i, { key, policy }] of charged.entries()) {
      if (policy.holdsUnits) continue // a release may end it at any moment
      const figures = verdict.parts[i]
      if (figures === undefined) continue
      const { allowed, isCounted } = figures
      const isOutdated = (this.#invalidatedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) >= sentAtMs
      if (!allowed && !isCounted && !isOutdated) this.#denials.set(key, denial)
    }
  }

  /** Drops the denials of the keys of an operation that gives units back. */
  invalidate(operation: Operation): void {
    if (!givesUnitsBack(operation)) return
    const nowMs = performance.now()
    for (const { key } of keysOf(operation)) {
      this.#denials.delete(key)
      this.#invalidatedAtMs.set(key, nowMs)
    }
  }

  #repeat(denial: Denial, charged: readonly Part[], maxMs: number): ChargeResult | undefined {
    const nowMs = performance.now()
    const parts: PartResult[] = []
    for (const part of charged) {
      const figures = this.#figuresOf(part, denial, nowMs, maxMs)
      if (figures === undefined) return undefined
      parts.push(figures)
    }
    const atMs = denial.verdict.atMs + nowMs - denial.sentAtMs
    return { type: 'charge', allowed: false, atMs, parts, source: 'deny-cache' }
  }

  /** Returns `undefined` if the part may be allowed by now, or a ban has to count it. */
  #figuresOf(part: Part, denial: Denial, nowMs: number, maxMs: number): PartResult | undefined {
    const { charged, verdict, sentAtMs, minUntilMs } = denial
    const i = charged.findIndex(({ key }) => key === part.key)
    const ageMs = nowMs - sentAtMs
    const denied = charged[i]
    const figures = verdict.parts[i]
    if (denied !== undefined && !isSamePolicy(denied.policy, part.policy)) return undefined
    if (denied === undefined || figures?.allowed !== false) {
      if (part.policy.isBan) return undefined
      return figures ? figuresAfter(ageMs, figures, 0) : part.policy.take(undefined, verdict.atMs + ageMs, 0)
    }
    const { policy, cost } = denied
    const isOver = ageMs >= Math.min(figures.retryAfterMs, maxMs) && nowMs >= minUntilMs
    if (isOver || this.#denials.get(part.key) !== denial) return undefined
    if (part.cost < cost) return undefined
    const leftMs = Math.max(figures.retryAfterMs - ageMs, minUntilMs - nowMs)
    return figuresAfter(ageMs, figures, part.cost > policy.limit ? Number.POSITIVE_INFINITY : leftMs)
  }
}

/** Returns the figures `ageMs` later, assuming no other charge. */
function figuresAfter(ageMs: number, figures: PartResult, retryAfterMs: number): PartResult {
  const { allowed, remaining, debt } = figures
  const resetAfterMs = Math.max(0, figures.resetAfterMs - ageMs)
  const moreAfterMs = Math.max(0, figures.moreAfterMs - ageMs)
  const after = { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs }
  return debt === undefined ? after : { ...after, debt }
}

/** Returns the denial cache of a store. Limiters that share keys in the store also share the cache. */
export const denialCacheOf = weakMemo((_store: Store) => new DenialCache())
