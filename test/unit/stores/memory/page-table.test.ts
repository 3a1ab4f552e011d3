import fc from 'fast-check'
import { PageTable } from '../../../../src/stores/memory/page-table.js'
import { PAGE_SLOTS } from '../../../../src/stores/memory/slot-storage.js'

/** A hash without pattern for each number. */
function hashOf(i: number): readonly [high: number, low: number] {
  const mixed = (seed: number) => {
    let x = Math.imul(i + seed, 0x9e3779b1)
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
    return Math.imul(x ^ (x >>> 13), 0xc2b2ae35) ^ (x >>> 16)
  }
  return [mixed(0), mixed(0x51ed270b) || 1]
}

/** A table beside a Map that it has to agree with. */
class Compared {
  readonly table: PageTable
  readonly map = new Map<number, { policyId: number; state: readonly number[] }>()
  readonly #width: number
  #writes = 0
  #wrong = 0

  constructor(width: number) {
    this.#width = width
    this.table = new PageTable(width)
  }

  set(i: number, hash = hashOf(i)): void {
    const state = Array.from({ length: this.#width }, (_, at) => ++this.#writes + at / 3)
    const slot = this.table.find(...hash)
    const known = this.map.get(i)
    if (slot >= 0 !== (known !== undefined)) this.#wrong++
    if (known === undefined) this.table.add(...hash, i, state)
    else this.table.slots.write(slot, state)
    this.map.set(i, { policyId: i, state })
  }

  remove(i: number, hash = hashOf(i)): void {
    const slot = this.table.find(...hash)
    if (slot >= 0 !== this.map.delete(i)) this.#wrong++
    if (slot >= 0) this.table.remove(slot)
  }

  check(hash = hashOf): void {
    const { table, map } = this
    for (const [i, { policyId, state }] of map) {
      const slot = table.find(...hash(i))
      if (slot < 0 || table.slots.policyIdAt(slot) !== policyId) this.#wrong++
      else if (table.slots.read(slot).some((number, at) => number !== state[at])) this.#wrong++
    }
    expect(this.#wrong).toBe(0)
    let taken = 0
    for (let slot = 0; slot < table.slots.length; slot++) if (table.slots.isTaken(slot)) taken++
    expect(taken).toBe(map.size)
  }
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
    (i << 9) | ((PAGE_SLOTS - 2 + (i % 3)) % PAGE_SLOTS) || 1,
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
  const table = new PageTable(1)
  for (const [i, [high, low]] of [
    [1, 2],
    [2, 2],
    [1, 3],
    [-1, 2],
    [1, -2],
  ].entries()) {
    table.add(high as number, low as number, i, [i])
  }
  expect(table.slots.read(table.find(1, 3))).toEqual([2])
  expect(table.slots.read(table.find(-1, 2))).toEqual([3])
  expect(table.slots.read(table.find(1, -2))).toEqual([4])
  expect([table.find(2, 3), table.find(0, 2), table.find(-1, -2)]).toEqual([-1, -1, -1])
})

test('a state is read back as it was written, whatever the size and sign of its numbers', () => {
  const table = new PageTable(3)
  const state = [-0.1, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]
  table.add(7, 7, 0, state)
  expect(table.slots.read(table.find(7, 7))).toEqual(state)
})

test('a table has at most two and a half slots per state as it grows, and releases them as it shrinks', () => {
  const compared = new Compared(1)
  const keys = 40_000
  for (let i = 0; i < keys; i++) compared.set(i)
  compared.check()
  expect(compared.table.slots.length).toBeLessThan(2.5 * keys)
  for (let i = 0; i < keys - 1000; i++) compared.remove(i)
  compared.check()
  expect(compared.table.slots.length).toBeLessThan(16 * 1000)
  for (let i = keys - 1000; i < keys; i++) compared.remove(i)
  expect(compared.table.slots.length).toBeLessThanOrEqual(2 * PAGE_SLOTS)
})

test('no run of taken slots is as long as half a page', () => {
  const table = new PageTable(1)
  for (let i = 0; i < 50_000; i++) table.add(...hashOf(i), 0, [i])
  let longest = 0
  for (let slot = 0, run = 0; slot < table.slots.length; slot++) {
    run = table.slots.isTaken(slot) ? run + 1 : 0
    longest = Math.max(longest, run)
  }
  expect(longest).toBeLessThan(PAGE_SLOTS / 2)
})
