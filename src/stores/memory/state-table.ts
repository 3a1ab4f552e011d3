import { isBan } from '../../policies/ban.js'
import type { Policy, State, Step } from '../../policies/policy.js'
import { KeyHash } from './key-hash.js'
import { PageTable } from './page-table.js'
import { PolicyRegistry } from './policy-registry.js'

/** How many states a sweep examines, more than one new key adds, and in how many slots at most. */
const SWEPT_STATES = 2
const SWEPT_SLOTS = 16
/** How many states an eviction examines. */
const LEAST_EXAMINED = 4
const MOST_EXAMINED = 32
const NONE: ReadonlySet<number> = new Set()

/** The hash of a key. */
export type Hash = Pick<KeyHash, 'high' | 'low'>

/**
 * At most `maxKeys` states by key; the keys themselves are not kept. A clock hand goes round all slots and
 * removes fresh states, a few at a time: there is no timer, and nothing scans the whole table.
 *
 * `seek` selects a key. `read`, `write`, `add` and `remove` apply to that key until the next `seek`.
 */
export class StateTable {
  readonly #maxKeys: number
  readonly #hash = new KeyHash()
  readonly #registry = new PolicyRegistry()
  /** A table for each width of states, in the order in which the clock hand visits them; then by width. */
  readonly #tables: PageTable[] = []
  readonly #byWidth: (PageTable | undefined)[] = []
  #size = 0
  #table: PageTable
  #high = 0
  #low = 0
  #slot = -1
  /** The clock hand: the index of a table, and a slot in it. */
  #handTable = 0
  #handSlot = 0

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys
    this.#table = this.#addTable(1)
  }

  get size(): number {
    return this.#size
  }

  /** How many policies have states. */
  get policies(): number {
    return this.#registry.size
  }

  /** Selects a key. Returns whether it has a state. */
  seek(key: string, policy: Policy): boolean {
    this.#hash.hash(key)
    return this.seekHash(this.#hash, policy)
  }

  /** Selects a key by its hash. */
  seekHash({ high, low }: Hash, { width }: Policy): boolean {
    this.#high = high
    this.#low = low
    this.#table = this.#byWidth[width] ?? this.#addTable(width)
    this.#slot = this.#table.find(high, low)
    return this.#slot >= 0
  }

  hashOf(key: string): Hash {
    this.#hash.hash(key)
    return { high: this.#hash.high, low: this.#hash.low }
  }

  /** Returns the key's state, which must exist, in an array that the next call reuses. */
  read(): State {
    return this.#table.slots.read(this.#slot)
  }

  /** Replaces the key's state, which must exist. */
  write(state: State): void {
    this.#table.slots.write(this.#slot, state)
  }

  /** Adds a state for the key, which must have none, after `makeRoom` has returned true. */
  add(policy: Policy, state: State): void {
    const policyId = this.#registry.acquire(policy)
    try {
      this.#table.add(this.#high, this.#low, policyId, state)
    } catch (error) {
      this.#registry.release(policyId) // there was no memory for another page
      throw error
    }
    this.#size++
  }

  /** Removes the key's state, which must exist. */
  remove(): void {
    this.#remove(this.#table, this.#slot)
  }

  /** Removes every state of a key, whatever its policy. */
  forget(key: string): void {
    this.#hash.hash(key)
    for (const table of this.#tables) {
      const slot = table.find(this.#hash.high, this.#hash.low)
      if (slot >= 0) this.#remove(table, slot)
    }
  }

  /** Examines the next states at the clock hand, and removes those that are fresh. */
  sweep(nowMs: number, spared = NONE): void {
    let budget = SWEPT_SLOTS
    for (let examined = 0; examined < SWEPT_STATES; examined++) {
      budget = this.#advance(budget)
      if (budget === 0) return
      if (this.#peek(nowMs).resetAfterMs === 0 && !spared.has(this.#lowAtHand())) {
        this.#remove(this.#tableAtHand(), this.#handSlot) // the hand stays: another state may have moved up
      } else {
        this.#handSlot++
        budget--
      }
    }
  }

  /**
   * Sweeps, and evicts states while the table is too full for `wanted` new keys, at most one for each.
   * Returns whether there is room for all of them. The states of the hashes in `spared` stay.
   */
  makeRoom(nowMs: number, wanted: number, spared?: Iterable<Hash>): boolean {
    // That another key's hash may have the same `low`, and stay as well, is harmless.
    const sparedLows = spared === undefined ? NONE : new Set(Array.from(spared, ({ low }) => low))
    for (let i = 0; i < wanted; i++) {
      this.sweep(nowMs, sparedLows)
      if (this.#size + wanted > this.#maxKeys) this.#evict(nowMs, sparedLows)
    }
    return this.#size + wanted <= this.#maxKeys
  }

  /** Evicts the state with the largest share of its limit left, among those at the clock hand. */
  #evict(nowMs: number, spared: ReadonlySet<number>): void {
    let table: PageTable | undefined
    let slot = 0
    let largestShare = 0 // so that a key at its limit is never evicted
    let isNearlyFresh = false
    let budget = this.#tables.reduce((sum, { slots }) => sum + slots.length, 0)
    for (let examined = 0; examined < MOST_EXAMINED; examined++) {
      if (isNearlyFresh && examined >= LEAST_EXAMINED) break
      budget = this.#advance(budget)
      if (budget === 0) break
      const policy = this.#policyAtHand()
      const share = spared.has(this.#lowAtHand()) ? 0 : shareLeft(policy, this.#peek(nowMs))
      if (share > largestShare) {
        largestShare = share
        table = this.#tableAtHand()
        slot = this.#handSlot
        isNearlyFresh = share > 0.5 && (1 - share) * policy.limit < 1.5 // at most one unit is taken
      }
      this.#handSlot++
      budget--
    }
    if (table !== undefined) this.#remove(table, slot)
  }

  /** Moves the clock hand to a taken slot. Returns how many of `budget` slots are left, 0 = none found. */
  #advance(budget: number): number {
    for (let left = budget; left > 0; ) {
      const { slots } = this.#tableAtHand()
      if (this.#handSlot >= slots.length) {
        this.#handTable = (this.#handTable + 1) % this.#tables.length
        this.#handSlot = 0
      } else {
        if (slots.isTaken(this.#handSlot)) return left
        this.#handSlot++
        left--
      }
    }
    return 0
  }

  #tableAtHand(): PageTable {
    return this.#tables[this.#handTable] as PageTable
  }

  #lowAtHand(): number {
    return this.#tableAtHand().slots.lowAt(this.#handSlot)
  }

  #policyAtHand(): Policy {
    return this.#registry.policyOf(this.#tableAtHand().slots.policyIdAt(this.#handSlot))
  }

  #peek(nowMs: number): Step {
    return this.#policyAtHand().take(this.#tableAtHand().slots.read(this.#handSlot), nowMs, 0)
  }

  #remove(table: PageTable, slot: number): void {
    this.#registry.release(table.slots.policyIdAt(slot))
    table.remove(slot)
    this.#size--
  }

  #addTable(width: number): PageTable {
    const table = new PageTable(width)
    this.#tables.push(table)
    this.#byWidth[width] = table
    return table
  }
}

/** Returns 1 for a fresh state, 0 for one at its limit. Half for a ban: its record is worth keeping. */
function shareLeft(policy: Policy, { remaining, resetAfterMs }: Step): number {
  if (resetAfterMs === 0) return 1
  return remaining / policy.limit / (isBan(policy) ? 2 : 1)
}
