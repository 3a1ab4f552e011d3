import type { Policy, State, Step } from '../../policies/policy.js'
import type { ChargeResult, Part } from '../operation.js'
import { foreignKeyError } from '../shared/state-codec.js'
import { ClockHand, NEARLY_FRESH } from './clock-hand.js'
import { type HashStart, KeyHash } from './key-hash.js'
import type { Page } from './page.js'
import { PageTable } from './page-table.js'

/** One sweep per this many charges, so that fresh states are removed even if no new keys arrive. */
const CHARGES_PER_SWEEP = 16
/** Set in the mark of a state whose policy counts in periods of the system clock. */
const BY_SYSTEM_CLOCK = NEARLY_FRESH + 1

/** What the mark of a state, and the time at which it is fresh, are made of. */
type Figures = Pick<Step, 'remaining' | 'resetAfterMs'>

/**
 * At most `maxKeys` states by key; the keys themselves are not kept, nor are the policies. With each state,
 * the table keeps the time at which it is fresh, and a mark: the share of the limit that it leaves.
 */
export class StateTable {
  readonly maxKeys: number
  /** Returns how far the system clock is ahead at a time of the store's clock. */
  readonly #aheadAt: (nowMs: number) => number
  keyHash = new KeyHash()
  readonly pages = new PageTable()
  readonly #hand = new ClockHand(this.pages, (page, slot, nowMs) => this.shareAt(page, slot, nowMs))
  /** Where states are read into. A fraction makes V8 keep an array of doubles. */
  readonly #buffer: [number, number] = [0.5, 0.5]
  /** Times in pages count from here, since the precision of their 32 bits is relative. */
  epochMs = 0
  /** How many states there are. */
  size = 0
  /** Charges that no sweep has followed yet. A new key counts as those of one sweep. */
  #unswept = 0

  constructor(maxKeys: number, aheadAt: (nowMs: number) => number) {
    this.maxKeys = maxKeys
    this.#aheadAt = aheadAt
  }

  /** Returns where the hashes of keys with this beginning start, for `hash`. */
  startAfter(beginning: string): HashStart {
    return this.keyHash.startAfter(beginning)
  }

  /** Takes units of a key. Returns no step if there is no room for it. */
  take(policy: Policy, key: string, nowMs: number, cost: number): Step | undefined {
    this.keyHash.hash(key)
    return this.takeHashed(policy, key, nowMs, cost)
  }

  /**
   * Hashes the key of `start`, `text` and `end`, for `takeHashed`. Returns whether all of its characters are
   * from U+0001 to U+00FF.
   */
  hash(text: string, start: HashStart, end: string): boolean {
    this.keyHash.hash(text, start, end)
    return this.keyHash.isPlain
  }

  /** Takes units of the key that was hashed last, as `take` does. Errors name `key`. */
  takeHashed(policy: Policy, key: string, nowMs: number, cost: number): Step | undefined {
    const { high, low } = this.keyHash
    if (++this.#unswept >= CHARGES_PER_SWEEP) this.#sweep(nowMs)
    const page = this.pages.pageOf(high)
    const slot = page.find(high, low)
    const step = policy.take(slot < 0 ? undefined : this.#readSlot(page, slot, policy, key), nowMs, cost)
    if (step.next === undefined) return step
    if (slot >= 0) this.#write(page, slot, policy, step.next, step, nowMs)
    else if (!this.makeRoom(nowMs, 1)) return undefined
    else this.#add(high, low, policy, step.next, step, nowMs)
    return step
  }

  /**
   * Takes units of several keys, and hashes each key only once. Returns no result, and takes nothing, unless
   * all parts are allowed, have different keys, and have room without an eviction.
   */
  takeTogether(parts: readonly Part[], nowMs: number): ChargeResult | undefined {
    if (++this.#unswept >= CHARGES_PER_SWEEP) this.#sweep(nowMs)
    const hashes: { readonly high: number; readonly low: number }[] = []
    const steps: Step[] = []
    let newKeys = 0
    for (const { key, policy, cost } of parts) {
      const low = this.keyHash.hash(key)
      const { high } = this.keyHash
      for (const before of hashes) if (before.low === low) return undefined
      const page = this.pages.pageOf(high)
      const slot = page.find(high, low)
      const step = policy.take(slot < 0 ? undefined : this.#readSlot(page, slot, policy, key), nowMs, cost)
      if (!step.allowed) return undefined
      if (slot < 0 && step.next !== undefined) newKeys++
      hashes.push({ high, low })
      steps.push(step)
    }
    if (this.size + newKeys > this.maxKeys) return undefined
    this.#unswept += newKeys * CHARGES_PER_SWEEP
    for (let i = 0; i < steps.length; i++) {
      const policy = parts[i]?.policy
      const hash = hashes[i]
      const step = steps[i]
      if (policy === undefined || hash === undefined || step?.next === undefined) continue
      this.#put(hash.high, hash.low, policy, step.next, step, nowMs)
    }
    return { type: 'charge', allowed: true, atMs: nowMs, parts: steps }
  }

  /** Returns a copy of a key's state. Throws a `StoreError` for one that is not of the policy. */
  read(key: string, policy: Policy): State | undefined {
    const { page, slot } = this.#find(key)
    if (slot < 0) return undefined
    const state = this.#readSlot(page, slot, policy, key)
    return state === this.#buffer ? state.slice() : state
  }

  /** Writes a key's state. A key without one needs room: `makeRoom` returned true. */
  put(key: string, policy: Policy, state: State, nowMs: number): void {
    const low = this.keyHash.hash(key)
    this.#put(this.keyHash.high, low, policy, state, policy.take(state, nowMs, 0), nowMs)
  }

  /**
   * Writes a state from which a policy has given back units. It stays until the state before would have been
   * fresh, since another policy may have written that.
   */
  putRefunded(key: string, policy: Policy, state: State, nowMs: number): void {
    const { page, slot } = this.#find(key)
    const share = shareLeft(policy, policy.take(state, nowMs, 0).remaining)
    page.write(slot, state, page.freshAt(slot), share + (page.markAt(slot) & BY_SYSTEM_CLOCK))
  }

  forget(key: string): void {
    const { page, slot } = this.#find(key)
    if (slot < 0) return
    this.pages.remove(page, slot)
    this.size--
  }

  /**
   * Evicts states while the table is too full for `wanted` new keys, at most one for each. Returns whether
   * there is room for all of them. The states of `spared` stay.
   */
  makeRoom(nowMs: number, wanted: number, spared: readonly { readonly key: string }[] = []): boolean {
    this.#unswept += wanted * CHARGES_PER_SWEEP
    if (this.size + wanted <= this.maxKeys) return true
    // Another key whose hash has the same `low` is spared too, which is harmless.
    const sparedLows = new Set(spared.map(({ key }) => this.keyHash.hash(key)))
    for (let i = 0; i < wanted && this.size + wanted > this.maxKeys; i++)
      if (this.#hand.evict(nowMs, this.size, sparedLows)) this.size--
    return this.size + wanted <= this.maxKeys
  }

  /** Removes some fresh states. Before the states of a charge are read, so that none of them is removed. */
  #sweep(nowMs: number): void {
    for (; this.#unswept >= CHARGES_PER_SWEEP; this.#unswept -= CHARGES_PER_SWEEP)
      this.size -= this.#hand.sweep(nowMs)
  }

  /** Returns where the state of a key is; the slot is -1 if it has none. */
  #find(key: string): { readonly page: Page; readonly slot: number } {
    const low = this.keyHash.hash(key)
    const { high } = this.keyHash
    const page = this.pages.pageOf(high)
    return { page, slot: page.find(high, low) }
  }

  #readSlot(page: Page, slot: number, policy: Policy, key: string): State {
    const state = page.read(slot, this.#buffer)
    if (state.length !== (policy.width ?? state.length)) throw foreignKeyError('memory', key)
    return state
  }

  #put(high: number, low: number, policy: Policy, state: State, figures: Figures, nowMs: number): void {
    const page = this.pages.pageOf(high)
    const slot = page.find(high, low)
    if (slot < 0) this.#add(high, low, policy, state, figures, nowMs)
    else this.#write(page, slot, policy, state, figures, nowMs)
  }

  #add(high: number, low: number, policy: Policy, state: State, figures: Figures, nowMs: number): void {
    const page = this.pages.pageWithRoom(high)
    if (this.size === 0) this.epochMs = nowMs
    this.#write(page, page.add(high, low), policy, state, figures, nowMs)
    this.size++
  }

  #write(page: Page, slot: number, policy: Policy, state: State, figures: Figures, nowMs: number): void {
    const { remaining, resetAfterMs } = figures
    const share = shareLeft(policy, remaining)
    const freshAt = nowMs + resetAfterMs - this.epochMs
    if (policy.periodAt === undefined) page.write(slot, state, freshAt, share)
    else page.write(slot, state, freshAt + this.#aheadAt(nowMs), share + BY_SYSTEM_CLOCK)
  }

  /** Returns the share of its limit that a state leaves; more than `NEARLY_FRESH` if it is fresh. */
  shareAt(page: Page, slot: number, nowMs: number): number {
    const mark = page.markAt(slot)
    const atMs = nowMs - this.epochMs
    return this.shareOf(page.freshAt(slot), mark, atMs, mark < BY_SYSTEM_CLOCK ? 0 : this.#aheadAt(nowMs))
  }

  /** Does so by the two numbers that the table keeps with a state, and how far the system clock is ahead. */
  shareOf(freshAt: number, mark: number, atMs: number, aheadMs: number): number {
    const isFresh = freshAt <= atMs + (mark < BY_SYSTEM_CLOCK ? 0 : aheadMs)
    return isFresh ? NEARLY_FRESH + 1 : mark % BY_SYSTEM_CLOCK
  }
}

/**
 * Returns the share of a limit that is left, from 0 (nothing) to `NEARLY_FRESH`. A ban has half of it: its
 * record is worth keeping.
 */
function shareLeft({ limit, isBan }: Policy, remaining: number): number {
  if (remaining === 0) return 0
  const share = remaining / limit
  if (isBan) return 1 + Math.floor(62 * share)
  return share > 0.5 && limit - remaining < 1.5 ? NEARLY_FRESH : 1 + Math.floor(125 * share)
}
