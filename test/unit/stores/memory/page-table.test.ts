import fc from 'fast-check'
import { type Page, PageTable } from '../../../../src/stores/memory/page-table.js'

/** A hash without pattern for each number. */
function hashOf(i: number): readonly [high: number, low: number] {
  const mixed = (seed: number) => {
    let x = Math.imul(i + seed, 0x9e3779b1)
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
    return Math.imul(x ^ (x >>> 13), 0xc2b2ae35) ^ (x >>> 16)
  }
  return [mixed(0), mixed(0x51ed270b) || 1]
}

/** The slots of a page for states of width 1. */
const SLOTS = 4096

/** A table and its pages. */
class Table {
  readonly pages: Page[] = []
  readonly #table: PageTable

  constructor(width: number) {
    this.#table = new PageTable(width, this.pages)
  }

  add(high: number, low: number, policyId: number, state: readonly number[]): void {
    this.#table.pageWithRoom(high).add(high, low, policyId, state)
  }

  /** Returns the page of a hash, and its slot, or -1. */
  find(high: number, low: number): [page: Page, slot: number] {
    const page = this.#table.pageOf(high)
    return [page, page.find(high, low)]
  }

  /** Returns the state of a hash; `undefined` where it has none. */
  read(high: number, low: number): readonly number[] | undefined {
    const [page, slot] = this.find(high, low)
    return slot < 0 ? undefined : page.read(slot).slice()
  }

  remove(page: Page, slot: number): void {
    this.#table.remove(page, slot)
  }
}

/** A table beside a Map that it has to agree with. */
class Compared {
  readonly table: Table
  readonly map = new Map<number, { policyId: number; state: readonly number[] }>()
  readonly #width: number
  #writes = 0
  #wrong = 0

  constructor(width: number) {
    this.#width = width
    this.table = new Table(width)
  }

  set(i: number, hash = hashOf(i)): void {
    const state = Array.from({ length: this.#width }, (_, at) => ++this.#writes + at / 3)
    const [page, slot] = this.table.find(...hash)
    const known = this.map.get(i)
    if (slot >= 0 !== (known !== undefined)) this.#wrong++
    if (known === undefined) this.table.add(...hash, i, state)
    else page.write(slot, state)
    this.map.set(i, { policyId: i, state })
  }

  remove(i: number, hash = hashOf(i)): void {
    const [page, slot] = this.table.find(...hash)
    if (slot >= 0 !== this.map.delete(i)) this.#wrong++
    if (slot >= 0) this.table.remove(page, slot)
  }

  check(hash = hashOf): void {
    for (const [i, { policyId, state }] of this.map) {
      const [page, slot] = this.table.find(...hash(i))
      if (slot < 0 || page.policyIdAt(slot) !== policyId) this.#wrong++
      else if (page.read(slot).some((number, at) => number !== state[at])) this.#wrong++
    }
    expect(this.#wrong).toBe(0)
    for (const page of this.table.pages) expect(takenIn(page).filter(Boolean)).toHaveLength(page.states)
    expect(this.table.pages.reduce((sum, { states }) => sum + states, 0)).toBe(this.map.size)
  }
}

function takenIn(page: Page): boolean[] {
  return Array.from({ length: page.slots }, (_, slot) => page.lowAt(slot) !== 0)
}

test('a table agrees with a Map after any sequence of adding, changing and removing', () => {
  // Runs of keys, so that pages are split and merged.
  const run = fc.record({ from: fc.nat(4000), length: fc.nat(2500), isAdded: fc.boolean() })
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 5), fc.array(run, { maxLength: 12 }), (width, runs) => {
      const compared = new Compared(width)
      for (const { from, length, isAdded } of runs) {
        for (let i = from; i < from + length; i++) {
          if (isAdded) compared.set(i)
          else compared.remove(i)
        }
      }
      compared.check()
    }),
    { numRuns: 20 },
  )
})

test('hashes that collide in a few slots are kept apart, even where probing wraps around the page', () => {
  const crowded = (i: number): readonly [number, number] => [
    (i * 0x9e3779b1) | 0,
    (i << 12) | ((SLOTS - 2 + (i % 3)) % SLOTS) || 1,
  ]
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 200 }), (numbers) => {
      const compared = new Compared(1)
      for (const i of numbers) {
        if (compared.map.has(i)) compared.remove(i, crowded(i))
        else compared.set(i, crowded(i))
      }
      compared.check(crowded)
    }),
    { numRuns: 100 },
  )
})

test('hashes that differ in one half only are kept apart', () => {
  const table = new Table(1)
  for (const [i, [high, low]] of [
    [1, 2],
    [2, 2],
    [1, 3],
    [-1, 2],
    [1, -2],
  ].entries()) {
    table.add(high as number, low as number, i, [i])
  }
  expect([table.read(1, 3), table.read(-1, 2), table.read(1, -2)]).toEqual([[2], [3], [4]])
  expect([table.read(2, 3), table.read(0, 2), table.read(-1, -2)]).toEqual([undefined, undefined, undefined])
})

test('a state is read back as it was written, whatever the size and sign of its numbers', () => {
  const table = new Table(3)
  const state = [-0.1, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]
  table.add(7, 7, 0, state)
  expect(table.read(7, 7)).toEqual(state)
})

test('a table begins with a page of 16 slots, which grows with its states to full size', () => {
  const compared = new Compared(1)
  const sizes: number[] = []
  for (let i = 0; i < 4000; i++) {
    const slots = compared.table.pages[0]?.slots as number
    if (slots !== sizes.at(-1)) sizes.push(slots)
    compared.set(i)
  }
  expect(sizes).toEqual([16, 64, 256, 1024, SLOTS])
  compared.check()
})

test('a table has at most two and a half slots per state as it grows, and releases them as it shrinks', () => {
  const compared = new Compared(1)
  const keys = 40_000
  for (let i = 0; i < keys; i++) compared.set(i)
  compared.check()
  const slots = () => compared.table.pages.length * SLOTS
  expect(slots()).toBeLessThan(2.5 * keys)
  for (let i = 0; i < keys - 1000; i++) compared.remove(i)
  compared.check()
  expect(slots()).toBeLessThan(16 * 1000)
  for (let i = keys - 1000; i < keys; i++) compared.remove(i)
  expect(slots()).toBeLessThanOrEqual(2 * SLOTS)
})

test('no run of taken slots is as long as half a page', () => {
  const table = new Table(1)
  for (let i = 0; i < 50_000; i++) table.add(...hashOf(i), 0, [i])
  let longest = 0
  for (const page of table.pages) {
    let run = 0
    for (const isTaken of takenIn(page)) {
      run = isTaken ? run + 1 : 0
      longest = Math.max(longest, run)
    }
  }
  expect(longest).toBeLessThan(SLOTS / 2)
})
