import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { PAGE_SLOTS, type Page, SLOT_BYTES } from '../../../../src/stores/memory/page.js'
import { PageTable } from '../../../../src/stores/memory/page-table.js'
import { callWithin } from '../../../support/call-within.js'

/** A hash without pattern for each number. */
function hashOf(i: number): readonly [high: number, low: number] {
  const mixed = (seed: number) => {
    let x = Math.imul(i + seed, 0x9e3779b1)
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
    return Math.imul(x ^ (x >>> 13), 0xc2b2ae35) ^ (x >>> 16)
  }
  return [mixed(0), mixed(0x51ed270b) || 1]
}

/** Pages, with the figures of each state made of its number. */
class Table {
  readonly #table = new PageTable()
  readonly #buffer: [number, number] = [0.5, 0.5]

  get pages(): readonly Page[] {
    return this.#table.pages
  }

  add(high: number, low: number, state: readonly number[], freshAt = 0, mark = 0): void {
    const page = this.#table.pageWithRoom(high)
    page.write(page.add(high, low), state, freshAt, mark)
  }

  /** Returns the page of a hash, and its slot, or -1. */
  find(high: number, low: number): [page: Page, slot: number] {
    const page = this.#table.pageOf(high)
    return [page, page.find(high, low)]
  }

  /** Returns the state of a hash; `undefined` where it has none. */
  read(high: number, low: number): readonly number[] | undefined {
    const [page, slot] = this.find(high, low)
    return slot < 0 ? undefined : page.read(slot, this.#buffer).slice()
  }

  remove(page: Page, slot: number): void {
    this.#table.remove(page, slot)
  }
}

/** A table beside a Map that it has to agree with. */
class Compared {
  readonly table = new Table()
  readonly map = new Map<number, readonly number[]>()
  readonly #width: (i: number) => number
  #writes = 0
  #wrong = 0

  /** `width` says how many numbers a state of each key has. */
  constructor(width: (i: number) => number) {
    this.#width = width
  }

  set(i: number, hash = hashOf(i)): void {
    const state = Array.from({ length: this.#width(this.#writes) }, (_, at) => ++this.#writes + at / 3)
    const [page, slot] = this.table.find(...hash)
    const known = this.map.get(i)
    if (slot >= 0 !== (known !== undefined)) this.#wrong++
    if (known === undefined) this.table.add(...hash, state, i, i % 256)
    else page.write(slot, state, i, i % 256)
    this.map.set(i, state)
  }

  remove(i: number, hash = hashOf(i)): void {
    const [page, slot] = this.table.find(...hash)
    if (slot >= 0 !== this.map.delete(i)) this.#wrong++
    if (slot >= 0) this.table.remove(page, slot)
  }

  check(hash = hashOf): void {
    for (const [i, state] of this.map) {
      const [page, slot] = this.table.find(...hash(i))
      if (slot < 0 || page.freshAt(slot) !== i || page.markAt(slot) !== i % 256) this.#wrong++
      const found = this.table.read(...hash(i))
      if (found?.length !== state.length || found.some((number, at) => number !== state[at])) this.#wrong++
    }
    expect(this.#wrong).toBe(0)
    for (const page of this.table.pages) expect(takenIn(page).filter(Boolean)).toHaveLength(page.states)
    expect(this.table.pages.reduce((sum, { states }) => sum + states, 0)).toBe(this.map.size)
  }
}

const packed = () => 2
/** States of two numbers and others in turns, so that a key has both. */
const mixed = (writes: number) => 1 + (writes % 3)

function takenIn(page: Page): boolean[] {
  return Array.from({ length: page.slots }, (_, slot) => page.lowAt(slot) !== 0)
}

test('a table agrees with a Map after any sequence of adding, changing and removing', () => {
  // Runs of keys, so that pages are split and merged.
  const run = fc.record({ from: fc.nat(4000), length: fc.nat(2500), isAdded: fc.boolean() })
  fc.assert(
    fc.property(
      fc.constantFrom(packed, () => 5, mixed),
      fc.array(run, { maxLength: 12 }),
      (width, runs) => {
        const compared = new Compared(width)
        for (const { from, length, isAdded } of runs) {
          for (let i = from; i < from + length; i++) {
            if (isAdded) compared.set(i)
            else compared.remove(i)
          }
        }
        compared.check()
      },
    ),
    { numRuns: 20 },
  )
})

test('hashes that collide in a few slots are kept apart, even where probing wraps around the page', () => {
  const crowded = (i: number): readonly [number, number] => [
    (i * 0x9e3779b1) | 0,
    i % 3 === 0 ? i : -i * 2 ** 16, // in the first slot, or in the last two of a page of full size
  ]
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 200 }), (numbers) => {
      const compared = new Compared(packed)
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
  const table = new Table()
  for (const [i, [high, low]] of [
    [1, 2],
    [2, 2],
    [1, 3],
    [-1, 2],
    [1, -2],
  ].entries()) {
    table.add(high as number, low as number, [i, -i])
  }
  expect([table.read(1, 3), table.read(-1, 2), table.read(1, -2)]).toEqual([
    [2, -2],
    [3, -3],
    [4, -4],
  ])
  expect([table.read(2, 3), table.read(0, 2), table.read(-1, -2)]).toEqual([undefined, undefined, undefined])
})

test.each([
  [[-0.1, Number.MAX_SAFE_INTEGER]],
  [[1, Number.POSITIVE_INFINITY]],
  [[Number.NaN, Number.NaN]],
  [[7]],
  [[]],
  [[1, 2, 3]],
])('a state is read back as it was written: %p', (state) => {
  const table = new Table()
  table.add(7, 7, [8, 9])
  const [page, slot] = table.find(7, 7)
  for (const each of [state, [1, 2], state]) {
    page.write(slot, each, 0, 0)
    expect(table.read(7, 7)).toEqual(each)
  }
})

test('the time at which a state is fresh is kept to seven digits, and never rounded down', () => {
  const table = new Table()
  table.add(7, 7, [8, 9])
  const [page, slot] = table.find(7, 7)
  const kept = (ms: number) => {
    page.write(slot, [8, 9], ms, 0)
    return page.freshAt(slot)
  }
  expect([0, 1000, 2 ** 24, Number.POSITIVE_INFINITY].map(kept)).toEqual([
    0,
    1000,
    2 ** 24,
    Number.POSITIVE_INFINITY,
  ])
  fc.assert(
    fc.property(
      fc.integer({ min: -(2 ** 53), max: 2 ** 53 }).map((eighths) => eighths / 8),
      (ms) => {
        expect(kept(ms)).toBeGreaterThanOrEqual(ms)
        expect(kept(ms)).toBeLessThanOrEqual(ms + Math.abs(ms) * 3e-7)
      },
    ),
  )
})

// Once, a page whose states were all in its upper half was split for ever: half a page cannot hold them.
test('a page is split even if all of its states move to the sibling', () => {
  const compared = new Compared(packed)
  const upper = (i: number): readonly [number, number] => {
    const [high, low] = hashOf(i)
    return [high | 0x80000000, low]
  }
  callWithin(10_000, () => {
    for (let i = 0; i < 5000; i++) compared.set(i, upper(i))
  })
  compared.check(upper)
})

test('a table begins with a page of 16 slots, which grows with its states to full size', () => {
  const compared = new Compared(packed)
  const sizes: number[] = []
  for (let i = 0; i < 4000; i++) {
    const slots = compared.table.pages[0]?.slots as number
    if (slots !== sizes.at(-1)) sizes.push(slots)
    compared.set(i)
  }
  expect(sizes).toEqual([16, 64, 256, 1024, PAGE_SLOTS])
  compared.check()
})

test('a table of any size takes at most 50 bytes for each state, and releases them as it shrinks', () => {
  const compared = new Compared(packed)
  const slots = () => compared.table.pages.reduce((sum, page) => sum + page.slots, 0)
  const keys = 80_000
  let most = 0
  for (let i = 0; i < keys; i++) {
    compared.set(i)
    if (i > 20_000) most = Math.max(most, (SLOT_BYTES * slots()) / compared.map.size)
  }
  compared.check()
  expect(most).toBeLessThanOrEqual(50)
  for (let i = 0; i < keys - 1000; i++) compared.remove(i)
  compared.check()
  expect(slots()).toBeLessThan(16 * 1000)
  for (let i = keys - 1000; i < keys; i++) compared.remove(i)
  expect(compared.table.pages.length).toBeLessThanOrEqual(2)
})

test('no run of taken slots is as long as half a page', () => {
  const table = new Table()
  for (let i = 0; i < 50_000; i++) table.add(...hashOf(i), [i, i])
  let longest = 0
  for (const page of table.pages) {
    let run = 0
    for (const isTaken of takenIn(page)) {
      run = isTaken ? run + 1 : 0
      longest = Math.max(longest, run)
    }
  }
  expect(longest).toBeLessThan(PAGE_SLOTS / 2)
})

test.each([
  [1000, 1],
  [1000, 2],
])(
  'states of %d numbers free their memory when they are replaced by %d, though none is removed',
  async (long, short) => {
    setFlagsFromString('--expose-gc')
    const gc: () => void = runInNewContext('gc')
    /** V8 frees array buffers in another thread, also those of earlier tests. */
    const bytes = async () => {
      const readings: number[] = []
      while (readings.length < 3 || new Set(readings.slice(-3)).size > 1) {
        gc()
        await pause(10)
        readings.push(process.memoryUsage().arrayBuffers)
      }
      return readings.at(-1) ?? Number.NaN
    }
    const compared = new Compared((writes) => (writes < 500 * long ? long : short))
    const before = await bytes()
    for (let i = 0; i < 500; i++) compared.set(i)
    const full = (await bytes()) - before
    for (let i = 0; i < 500; i++) compared.set(i)
    expect(full).toBeGreaterThan(8 * 500 * long)
    expect((await bytes()) - before).toBeLessThan(full / 10)
    compared.check()
  },
)
