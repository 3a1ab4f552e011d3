import { isBan } from '../../policies/ban.js'
import type { Policy, State } from '../../policies/policy.js'
import { KeyHash } from './key-hash.js'
import { PageTable } from './page-table.js'
import { PolicyLabels } from './policy-registry.js'

/** How many states each newcomer looks at for fresh ones to drop, so that the table follows its live keys. */
const SWEPT = 2
/** How many places it goes over at most to find them. */
const SWEPT_PLACES = 16
/** How many states a newcomer looks at to find room in a full table. */
const LEAST_SEARCHED = 4
const MOST_SEARCHED = 32
const NOBODY: ReadonlySet<number> = new Set()

/** The hash of a key. */
export type Hash = Pick<KeyHash, 'high' | 'low'>

/**
 * States by key, at most `maxKeys` of them; the keys themselves are not kept. A hand goes round and drops states that equal fresh
 * ones, a few at a time: no timer, and no sweep over everything.
 *
 * `seek` goes to a key, and what is read and written is that key's until the next `seek`.
 */
export class StateTable {
  readonly #maxKeys: number
  readonly #hash = new KeyHash()
  readonly #labels = new PolicyLabels()
  /** A table for the states of each width, as they came; and the same by width. */
  readonly #tables: PageTable[] = []
  readonly #ofWidth: (PageTable | undefined)[] = []
  #size = 0
  #sought: PageTable
  #high = 0
  #low = 0
  #place = -1
  /** Where the hand is: the table's number, and the place in it. */
  #hand = 0
  #handPlace = 0

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys
    this.#sought = this.#addTable(1)
  }

  get size(): number {
    return this.#size
  }

  /** How many policies there are states of. */
  get policies(): number {
    return this.#labels.size
  }

  /** Goes to a key. Gives whether it has a state. */
  seek(key: string, { width }: Policy): boolean {
    this.#hash.hash(key)
    return this.#seek(this.#hash, width)
  }

  /** The same by the key's hash, for keys that are sought more than once. */
  seekHash(hash: Hash, { width }: Policy): boolean {
    return this.#seek(hash, width)
  }

  hashOf(key: string): Hash {
    this.#hash.hash(key)
    return { high: this.#hash.high, low: this.#hash.low }
  }

  #seek({ high, low }: Hash, width: number): boolean {
    this.#high = high
    this.#low = low
    this.#sought = this.#ofWidth[width] ?? this.#addTable(width)
    this.#place = this.#sought.find(high, low)
    return this.#place >= 0
  }

  /** The key's state, which is there: in an array that the next reading uses again. */
  read(): State {
    return this.#sought.read(this.#place)
  }

  /** Changes the key's state, which is there. */
  write(state: State): void {
    this.#sought.write(this.#place, state)
  }

  /** Gives the key, which has none, a state. It needs room from `makeRoom` first. */
  add(policy: Policy, state: State): void {
    const label = this.#labels.take(policy)
    try {
      this.#sought.add(this.#high, this.#low, label, state)
    } catch (error) {
      this.#labels.give(label) // there was no memory for another page
      throw error
    }
    this.#size++
  }

  /** Removes the key's state, which is there. */
  remove(): void {
    this.#remove(this.#sought, this.#place)
  }

  /** Removes what a key has, whatever its policy. */
  forget(key: string): void {
    this.#hash.hash(key)
    for (const table of this.#tables) {
      const place = table.find(this.#hash.high, this.#hash.low)
      if (place >= 0) this.#remove(table, place)
    }
  }

  /** Drops those of a few states that equal fresh ones. */
  sweep(nowMs: number, spared = NOBODY): void {
    let places = SWEPT_PLACES
    for (let states = SWEPT; states > 0; states--) {
      places = this.#advance(places)
      if (places === 0) return
      const { resetAfterMs } = this.#policyAtHand().take(this.#readAtHand(), nowMs, 0)
      if (resetAfterMs === 0 && !spared.has(this.#tableAtHand().lowAt(this.#handPlace))) {
        this.#remove(this.#tableAtHand(), this.#handPlace) // the hand stays: another state may have moved up
      } else {
        this.#handPlace++
        places--
      }
    }
  }

  /**
   * Drops some states that equal fresh ones, and where there is still no room for `wanted` newcomers, the one that is nearest to
   * fresh; none whose hash has a `low` that is `spared`: a stranger's that is spared, too, does no harm. False = there is no room, and nobody
   * to free.
   */
  makeRoom(nowMs: number, wanted: number, spared = NOBODY): boolean {
    this.sweep(nowMs, spared)
    if (this.#size + wanted > this.#maxKeys) this.#removeNearestToFresh(nowMs, spared)
    return this.#size + wanted <= this.#maxKeys
  }

  /** When a few have been looked at, one that lacks no more than a unit will do: nobody could lose less, but who is fresh. */
  #removeNearestToFresh(nowMs: number, spared: ReadonlySet<number>): void {
    let best: PageTable | undefined
    let bestPlace = 0
    let bestShare = 0
    let isNear = false
    let looks = 0
    let places = this.#tables.reduce((sum, table) => sum + table.places, 0)
    while (looks < LEAST_SEARCHED || (looks < MOST_SEARCHED && !isNear)) {
      places = this.#advance(places)
      if (places === 0) break
      looks++
      const table = this.#tableAtHand()
      if (!spared.has(table.lowAt(this.#handPlace))) {
        const policy = this.#policyAtHand()
        const { remaining, resetAfterMs } = policy.take(this.#readAtHand(), nowMs, 0)
        const share = resetAfterMs === 0 ? 1 : shareLeft(policy, remaining) // 0 = at its limit, never chosen
        if (share > bestShare) {
          best = table
          bestPlace = this.#handPlace
          bestShare = share
          isNear = resetAfterMs === 0 || (share > 0.5 && remaining >= policy.limit - 1)
        }
      }
      this.#handPlace++
      places--
    }
    if (best !== undefined) this.#remove(best, bestPlace)
  }

  /**
   * Moves the hand on to a place that is taken, over at most so many places and through all tables. Gives how many are left to go;
   * 0 = there was none.
   */
  #advance(places: number): number {
    for (let left = places; left > 0; ) {
      const table = this.#tableAtHand()
      const from = this.#handPlace
      const end = Math.min(table.places, from + left)
      this.#handPlace = table.nextTaken(from, end)
      left -= this.#handPlace - from
      if (this.#handPlace < end) return left
      if (end < table.places) return 0
      this.#handPlace = 0
      this.#hand = (this.#hand + 1) % this.#tables.length
    }
    return 0
  }

  #tableAtHand(): PageTable {
    return this.#tables[this.#hand] as PageTable
  }

  #policyAtHand(): Policy {
    return this.#labels.policyOf(this.#tableAtHand().labelAt(this.#handPlace))
  }

  #readAtHand(): State {
    return this.#tableAtHand().read(this.#handPlace)
  }

  #remove(table: PageTable, place: number): void {
    this.#labels.give(table.labelAt(place))
    table.remove(place)
    this.#size--
  }

  #addTable(width: number): PageTable {
    const table = new PageTable(width)
    this.#tables.push(table)
    this.#ofWidth[width] = table
    return table
  }
}

/** Who has a record of bans has more to lose than units. */
function shareLeft(policy: Policy, remaining: number): number {
  return remaining / policy.limit / (isBan(policy) ? 2 : 1)
}
