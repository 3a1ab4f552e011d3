import { isBan } from '../policies/ban.js'
import { isSamePolicy } from '../policies/policy.js'
import type { Charge, KeyedPolicy, Part, PartVerdict, Store, Verdict } from '../stores/store.js'
import { RecentMap } from '../util/recent-map.js'
import { aged } from './aged.js'

/** Of so many keys at least the denials are remembered, and of twice as many at most. */
const KEYS = 16_384

/** A part that a store denied, with all that it told at the time. Times are those of `performance.now()`. */
interface Denial {
  readonly part: Part
  readonly figures: PartVerdict
  readonly charge: Charge
  readonly verdict: Verdict
  /** When the store was asked: before it decided, so that nothing is denied here for longer than there. */
  readonly askedMs: number
}

/**
 * What a store has denied, in this process's memory. A part that was denied is denied again until its `retryAfterMs` is over,
 * whatever else is taken meanwhile, and so is one that costs more; only giving back ends that sooner.
 */
export class DenialCache {
  readonly #denials = new RecentMap<Denial>(KEYS)
  /** When units of a key were given back last. */
  readonly #freedMs = new RecentMap<number>(KEYS)

  /**
   * The verdict on a charge of which a part was denied no longer than `maxMs` ago, where that is still so. Figures are exact for parts that
   * were denied for the same cost; but `remaining` of a cost above 1 is as it was. One that costs more is told the same times; one that
   * did not deny stands as it did in the same charge, or else as fresh.
   */
  find(charge: Charge, maxMs: number): Verdict | undefined {
    for (const part of charge) {
      if (this.#denials.get(part.key) === undefined) continue
      const nowMs = performance.now()
      const denial = this.#denialOf(part, nowMs, maxMs)
      if (denial !== undefined) return this.#verdictBy(denial, charge, nowMs, maxMs)
    }
    return undefined
  }

  /**
   * Remembers what was denied, unless something was given back since the store was asked. What was allowed since a larger cost was denied
   * has changed the figures.
   */
  learn(charge: Charge, verdict: Verdict, askedMs: number): void {
    if (verdict.allowed) this.#unlearn(charge)
    else if (!verdict.isTentative && !namesKeyTwice(charge)) this.#keep(charge, verdict, askedMs)
  }

  #keep(charge: Charge, verdict: Verdict, askedMs: number): void {
    charge.forEach((part, i) => {
      const figures = verdict.parts[i] as PartVerdict
      if (figures.allowed || figures.isCounted || this.#isFreedSince(part, askedMs)) return
      this.#denials.set(part.key, { part, figures, charge, verdict, askedMs })
    })
  }

  #unlearn(charge: Charge): void {
    for (const { key, cost } of charge) {
      if (cost > 0 && this.#denials.get(key) !== undefined) this.#denials.delete(key)
    }
  }

  /** Units of these keys are given back, or have been. */
  free(held: readonly KeyedPolicy[]): void {
    const nowMs = performance.now()
    for (const { key } of held) {
      this.#denials.delete(key)
      this.#freedMs.set(key, nowMs)
    }
  }

  #isFreedSince({ key }: Part, askedMs: number): boolean {
    const freedMs = this.#freedMs.get(key)
    return freedMs !== undefined && freedMs >= askedMs
  }

  #denialOf({ key, policy, cost }: Part, nowMs: number, maxMs: number): Denial | undefined {
    const denial = this.#denials.get(key)
    if (denial === undefined || nowMs >= denial.askedMs + Math.min(denial.figures.retryAfterMs, maxMs))
      return undefined
    return cost >= denial.part.cost && isSamePolicy(denial.part.policy, policy) ? denial : undefined
  }

  #verdictBy(first: Denial, charge: Charge, nowMs: number, maxMs: number): Verdict | undefined {
    const atMs = first.verdict.atMs + nowMs - first.askedMs
    const parts: PartVerdict[] = []
    for (const part of charge) {
      const own = part.key === first.part.key ? first : this.#denialOf(part, nowMs, maxMs)
      const seen = first.verdict.parts[first.charge.findIndex(({ key }) => key === part.key)]
      if (own !== undefined) parts.push(deniedAgain(part, own.figures, nowMs - own.askedMs))
      else if (isBan(part.policy))
        return undefined // which may have to count a denial
      else if (seen?.allowed) parts.push(aged(seen, nowMs - first.askedMs))
      else parts.push(part.policy.take(undefined, atMs, 0))
    }
    return { allowed: false, atMs, parts, source: 'deny-cache' }
  }
}

/** Such parts are denied for what they want together. */
function namesKeyTwice(charge: Charge): boolean {
  return charge.some(({ key }, i) => i > 0 && charge.findIndex((other) => other.key === key) < i)
}

/** What costs more than there ever is, is never allowed. */
function deniedAgain({ policy, cost }: Part, figures: PartVerdict, byMs: number): PartVerdict {
  const again = aged(figures, byMs)
  return cost > policy.limit ? { ...again, retryAfterMs: Number.POSITIVE_INFINITY } : again
}

const known = new WeakMap<Store, DenialCache>()

/** The denials of a store: limiters that share keys in the store share them, too. */
export function denialCacheOf(store: Store): DenialCache {
  const made = known.get(store) ?? new DenialCache()
  known.set(store, made)
  return made
}
