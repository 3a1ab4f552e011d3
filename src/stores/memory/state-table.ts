import { hasOwnNumbers, type Policy, type State, type Step } from '../../policies/policy.js'
import { type HashStart, KeyHash } from './key-hash.js'
import { Page, PageTable } from './page-table.js'
import { hasNumbersOf, PolicyRegistry, type RegistryEntry, widthPerKey } from './policy-registry.js'

/** One sweep per this many charges, so that fresh states are removed even if no new keys arrive. */
const CHARGES_PER_SWEEP = 16
/** States that a sweep examines (more than a new key adds), and empty slots that it passes before each. */
const SWEPT_STATES = 2
const SWEPT_SLOTS = 16
/** How many states an eviction examines. */
const MIN_EXAMINED = 4
const MAX_EXAMINED = 32
const NONE: ReadonlySet<number> = new Set()
/** The page of a table that has not been asked for a key yet. */
const NO_PAGE = /* @__PURE__ */ new Page([0], 0, 0, 1)

/** The hash under which a key's state lies. */
export interface Hash {
  readonly high: number
  readonly low: number
}

/**
 * At most `maxKeys` states by key; the keys themselves are not kept. A clock hand goes round all slots and
 * removes fresh states, a few at a time: there is no timer, and nothing scans the whole table.
 *
 * `seek` and `select` select a key. `read` and `put` apply to it until the next one is selected.
 */
export class StateTable {
  readonly maxKeys: number
  readonly #hash = new KeyHash()
  readonly #registry = new PolicyRegistry()
  /** The pages of all tables, in the order in which the clock hand visits them. */
  readonly #pages: Page[] = []
  /** A table for each number of figures that a key has. */
  readonly #tables: PageTable[] = []
  #size = 0
  #charged = 0
  #page = NO_PAGE
  #slot = -1
  /** The clock hand: the index of a page, and a slot in it. */
  #handPage = 0
  #handSlot = 0

  constructor(maxKeys: number) {
    this.maxKeys = maxKeys
  }

  get size(): number {
    return this.#size
  }

  /** Returns where the hashes of keys with this beginning start, for `seek`. */
  startAfter(beginning: string): HashStart {
    return this.#hash.startAfter(beginning)
  }

  /** Takes units of a key, as `seek` selects it. Returns no step if there is no room for the key. */
  take(
    policy: Policy,
    key: string,
    nowMs: number,
    cost: number,
    start?: HashStart,
    end?: string,
  ): Step | undefined {
    this.countCharge(nowMs)
    const isStored = this.seek(key, policy, start, end)
    const step = policy.take(isStored ? this.read() : undefined, nowMs, cost)
    if (step.next === undefined) return step
    if (!isStored && !this.makeRoom(nowMs, 1)) return undefined
    this.put(policy, step.next)
    return step
  }

  /** Counts a charge. Now and then, removes some fresh states. */
  countCharge(nowMs: number): void {
    if (++this.#charged % CHARGES_PER_SWEEP === 0) this.sweep(nowMs)
  }

  /** Selects a key, whole or as its middle between `start` and `end`. Returns whether it has a state. */
  seek(key: string, policy: Policy, start?: HashStart, end?: string): boolean {
    this.#hash.hash(key, start, end)
    return this.select(this.#hash, policy)
  }

  /** Returns the hash of the key selected last. */
  get selected(): Hash {
    return { high: this.#hash.high, low: this.#hash.low }
  }

  /** Selects a key by its hash, as `seek` does by the key. */
  select({ high, low }: Hash, policy: Policy): boolean {
    this.#hash.high = high
    this.#hash.low = low
    this.#page = this.#tableOf(widthPerKey(policy)).pageOf(high)
    this.#slot = this.#page.find(high, low)
    return this.#slot >= 0 || this.#selectElsewhere(policy)
  }

  /** Selects a state that was written under numbers which need more or less room. */
  #selectElsewhere(policy: Policy): boolean {
    const widths = this.#registry.otherWidths(policy.spec, widthPerKey(policy))
    if (widths === undefined) return false
    const { high, low } = this.#hash
    for (const width of widths) {
      const page = this.#tableOf(width).pageOf(high)
      const slot = page.find(high, low)
      if (slot < 0) continue
      this.#page = page
      this.#slot = slot
      return true
    }
    return false
  }

  #tableOf(width: number): PageTable {
    const table = this.#tables[width] ?? new PageTable(width, this.#pages)
    this.#tables[width] = table
    return table
  }

  /** Returns the key's state, which must exist, in an array that the next call reuses. */
  read(): State {
    return this.#readSlot(this.#page, this.#slot)
  }

  #readSlot(page: Page, slot: number): State {
    const { buffer, perKey } = this.#registry.entryOf(page.policyIdAt(slot))
    page.readInto(slot, buffer, perKey)
    return buffer
  }

  /** Writes the key's state, or removes it. A key without a state needs room: `makeRoom` returned true. */
  put(policy: Policy, state: State | undefined): void {
    if (state === undefined) this.#remove(this.#page, this.#slot)
    else if (this.#slot < 0) this.#add(policy, state)
    else {
      const entry = this.#registry.entryOf(this.#page.policyIdAt(this.#slot))
      // An operation on units of an earlier charge leaves the numbers of the state as they are.
      const isOfEntry =
        hasNumbersOf(entry, state) && (entry.policy === policy || !hasOwnNumbers(policy, state))
      if (isOfEntry) this.#page.write(this.#slot, state, entry.perKey)
      else this.#replace(entry, policy, state)
    }
  }

  #add(policy: Policy, state: State): void {
    const { high, low } = this.#hash
    const page = this.#tableOf(widthPerKey(policy)).pageWithRoom(high)
    const { id, perKey } = this.#registry.acquire(policy, state)
    page.add(high, low, id, state, perKey)
    this.#size++
  }

  /** Writes a state under other numbers than the one before it. */
  #replace(before: RegistryEntry, policy: Policy, state: State): void {
    if (before.perKey.length !== widthPerKey(policy)) {
      this.#remove(this.#page, this.#slot)
      this.#add(policy, state)
      return
    }
    const entry = this.#registry.acquire(policy, state)
    this.#page.setPolicyId(this.#slot, entry.id)
    this.#page.write(this.#slot, state, entry.perKey)
    this.#registry.release(before)
  }

  forget(key: string): void {
    this.#hash.hash(key)
    const { high, low } = this.#hash
    this.#tables.forEach((table) => {
      const page = table.pageOf(high)
      const slot = page.find(high, low)
      if (slot >= 0) this.#remove(page, slot)
    })
  }

  /** Examines the next states at the clock hand, and removes those that are fresh. */
  sweep(nowMs: number, spared = NONE): void {
    for (let examined = 0; examined < SWEPT_STATES; examined++) {
      const page = this.#advance(SWEPT_SLOTS)
      if (page === undefined) return
      if (this.#peek(page, nowMs).resetAfterMs === 0 && !spared.has(page.lowAt(this.#handSlot))) {
        this.#remove(page, this.#handSlot) // the hand stays: another state may have moved up
      } else {
        this.#handSlot++
      }
    }
  }

  /**
   * Sweeps, and evicts states while the table is too full for `wanted` new keys, at most one for each.
   * Returns whether there is room for all of them. The states of `sparedHashes` stay. With any, the next
   * call has to be `seek` or `select`.
   */
  makeRoom(nowMs: number, wanted: number, sparedHashes?: readonly Hash[]): boolean {
    // Another key whose hash has the same `low` is spared too, which is harmless.
    const spared = sparedHashes === undefined ? NONE : new Set(sparedHashes.map(({ low }) => low))
    for (let i = 0; i < wanted; i++) {
      this.sweep(nowMs, spared)
      if (this.#size + wanted > this.maxKeys) this.#evict(nowMs, spared)
    }
    return this.#size + wanted <= this.maxKeys
  }

  /** Evicts the state with the largest share of its limit left, among those at the clock hand. */
  #evict(nowMs: number, spared: ReadonlySet<number>): void {
    let candidate: Page | undefined
    let slot = 0
    let largestShare = 0 // so that a key at its limit is never evicted
    let isNearlyFresh = false
    const most = Math.min(MAX_EXAMINED, this.#size)
    for (let examined = 0; examined < most; examined++) {
      if (isNearlyFresh && examined >= MIN_EXAMINED) break
      const page = this.#advance(Number.POSITIVE_INFINITY)
      if (page === undefined) break // never, because there is a state
      const { policy } = this.#registry.entryOf(page.policyIdAt(this.#handSlot))
      const isSpared = spared.has(page.lowAt(this.#handSlot))
      const share = isSpared ? 0 : shareLeft(policy, this.#peek(page, nowMs))
      if (share > largestShare) {
        largestShare = share
        candidate = page
        slot = this.#handSlot
        isNearlyFresh = share > 0.5 && (1 - share) * policy.limit < 1.5 // at most one unit is taken
      }
      this.#handSlot++
    }
    if (candidate !== undefined) this.#remove(candidate, slot)
  }

  /** Moves the clock hand to a taken slot, over at most `empty` others. Returns its page, if any. */
  #advance(empty: number): Page | undefined {
    for (let passed = 0; passed <= empty; ) {
      const page = this.#pages[this.#handPage]
      if (page === undefined || this.#handSlot >= page.slots) {
        this.#handPage = page === undefined ? 0 : this.#handPage + 1
        this.#handSlot = 0
      } else {
        if (page.lowAt(this.#handSlot) !== 0) return page
        this.#handSlot++
        passed++
      }
    }
    return undefined
  }

  #peek(page: Page, nowMs: number): Step {
    const { policy } = this.#registry.entryOf(page.policyIdAt(this.#handSlot))
    return policy.take(this.#readSlot(page, this.#handSlot), nowMs, 0)
  }

  #remove(page: Page, slot: number): void {
    this.#registry.release({ id: page.policyIdAt(slot) })
    const table = this.#tables[page.width] as PageTable
    table.remove(page, slot)
    this.#size--
  }
}

/** Returns 1 for a fresh state, 0 for one at its limit. Half for a ban: its record is worth keeping. */
function shareLeft(policy: Policy, { remaining, resetAfterMs }: Step): number {
  if (resetAfterMs === 0) return 1
  return remaining / policy.limit / (policy.isBan ? 2 : 1)
}
