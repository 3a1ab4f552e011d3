import {
  type Block,
  type Charge,
  type ChargeResult,
  givesUnitsBack,
  keysOf,
  type Operation,
  type Outcome,
  type Part,
  type PartResult,
  type Take,
} from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import { weakMemo } from '../util/memo.js'
import { RecentMap } from '../util/recent-map.js'
import {
  type CachedFigures,
  figuresAfterBlock,
  figuresAfterTake,
  figuresAt,
  storeTimes,
} from './cached-figures.js'
import type { DenialTimes } from './lease/leases.js'

/** The cache holds at least this many keys, and at most twice as many. */
const MIN_KEYS = 16_384

/**
 * The latest figures of the keys of denied charges, in this process's memory. The cache denies a charge if
 * it knows every figure that the store would return: how much each key has left, and until when each key
 * denies the charge. Later figures from the store replace those of a key, whichever limiter asks.
 *
 * An operation that gives units back invalidates its keys. It does so twice: when it is sent, because of
 * charges in flight, and when it is done, because of charges sent meanwhile. Operations of other processes
 * take effect here within `maxMs`.
 */
export class DenialCache {
  readonly #figures = new RecentMap<CachedFigures>(MIN_KEYS)
  /** When units of a key were last given back. */
  readonly #invalidatedAtMs = new RecentMap<number>(MIN_KEYS)

  /** Sees an operation before it is sent. Returns a charge's cached verdict, even while the store is down. */
  before(operation: Operation, { maxMs }: DenialTimes): ChargeResult | undefined {
    if (operation.type === 'charge')
      return this.#figures.isEmpty ? undefined : this.find(operation.parts, maxMs)
    this.invalidate(operation)
    return undefined
  }

  /** Sees an outcome that came later. Those known at once are not recorded. */
  after(operation: Operation, outcome: Outcome, sentAtMs: number, { minMs, maxMs }: DenialTimes): void {
    this.invalidate(operation)
    if (maxMs <= 0 || outcome instanceof Error) return
    const nowMs = performance.now()
    if (outcome.type === 'charge') {
      if (!outcome.allowed || !this.#figures.isEmpty)
        this.record((operation as Charge).parts, outcome, sentAtMs, minMs)
    } else if (outcome.type === 'take')
      this.#change((operation as Take).key, (cached) => figuresAfterTake(cached, outcome, sentAtMs, nowMs))
    else if (outcome.type === 'block')
      this.#change((operation as Block).key, (cached) => figuresAfterBlock(cached, outcome, sentAtMs, nowMs))
  }

  /**
   * Returns the denial of a charge if figures that are younger than `maxMs` show that the store denies it.
   */
  find(charged: readonly Part[], maxMs: number): ChargeResult | undefined {
    const nowMs = performance.now()
    const all: CachedFigures[] = []
    for (const { key } of charged) {
      const cached = this.#figures.get(key)
      if (cached === undefined) return undefined
      if (nowMs - cached.sentAtMs >= maxMs && nowMs >= cached.minUntilMs) return undefined
      all.push(cached)
    }
    const times = storeTimes(all, nowMs)
    const parts: PartResult[] = []
    let isDenied = false
    for (const [i, cached] of all.entries()) {
      const figures = figuresAt(times[i] as number, cached, charged[i] as Part, nowMs)
      // Once a limit may allow again, the store decides: it may have allowed another process.
      if (figures === undefined || (figures.allowed && !cached.figures.allowed)) return undefined
      isDenied ||= !figures.allowed
      parts.push(figures)
    }
    if (!isDenied || hasSharedKey(charged)) return undefined
    return { type: 'charge', allowed: false, atMs: Math.max(...times), parts, source: 'deny-cache' }
  }

  /**
   * Records a store's figures for the keys of a denied charge, for at least `minMs`. For an allowed charge,
   * records only those of keys that took part in a denial.
   */
  record(charged: readonly Part[], verdict: ChargeResult, sentAtMs: number, minMs = 0): void {
    const { allowed, isTentative } = verdict
    // Parts that share a key are decided for their total cost, so the figures do not tell about each part.
    if (isTentative || (!allowed && hasSharedKey(charged))) return
    const receivedAtMs = performance.now()
    const minUntilMs = receivedAtMs + minMs
    for (const [i, { key, policy, cost }] of charged.entries()) {
      const figures = verdict.parts[i]
      if (figures === undefined || (allowed && cost === 0)) continue
      const cached = {
        policy,
        cost,
        figures,
        atMs: figures.atMs ?? verdict.atMs,
        sentAtMs,
        receivedAtMs,
        minUntilMs,
      }
      if (allowed) this.#change(key, () => cached)
      else this.#set(key, cached)
    }
  }

  /** Invalidates the keys of an operation that gives units back, or that holds expired units again. */
  invalidate(operation: Operation): void {
    if (!givesUnitsBack(operation) && operation.type !== 'renew') return
    const nowMs = performance.now()
    for (const { key } of keysOf(operation)) {
      this.#figures.delete(key)
      this.#invalidatedAtMs.set(key, nowMs)
    }
  }

  /** Changes the figures of a key, if there are any. */
  #change(key: string, change: (cached: CachedFigures) => CachedFigures | undefined): void {
    const cached = this.#figures.get(key)
    if (cached === undefined) return
    const changed = change(cached)
    if (changed === undefined) this.#figures.delete(key)
    else this.#set(key, changed)
  }

  /**
   * Sets the figures of a key, unless it was invalidated meanwhile, or figures of a later charge are known.
   */
  #set(key: string, cached: CachedFigures): void {
    const { policy, figures, sentAtMs } = cached
    if ((this.#invalidatedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) >= sentAtMs) return
    if ((this.#figures.get(key)?.sentAtMs ?? Number.NEGATIVE_INFINITY) > sentAtMs) return
    // A release may end a denial of units in use at any moment. A ban counts the next denial.
    const isCacheable = figures.allowed || !(policy.holdsUnits || figures.isCounted)
    if (isCacheable) this.#figures.set(key, cached)
    else this.#figures.delete(key)
  }
}

/** Returns whether two parts of a charge have the same key. */
function hasSharedKey(charged: readonly Part[]): boolean {
  for (let i = 1; i < charged.length; i++)
    for (let j = 0; j < i; j++) if (charged[i]?.key === charged[j]?.key) return true
  return false
}

/** Returns the denial cache of a store. Limiters that share keys in the store also share the cache. */
export const denialCacheOf = weakMemo((_store: Store) => new DenialCache())
