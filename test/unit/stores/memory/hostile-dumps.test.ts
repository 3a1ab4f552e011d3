import { consecutive, memoryStore, restoreMemory } from 'headgate'
import { createDump, seal } from '../../../../src/stores/memory/dump/format.js'
import { dumpableOf } from '../../../../src/stores/memory/dumpable.js'
import { callWithin } from '../../../support/call-within.js'
import { chargeStore } from '../../../support/store-calls.js'

const NOW_MS = 1_790_000_000_000
const TIMES = { nowMs: NOW_MS, systemMs: NOW_MS, epochMs: NOW_MS }
const STATE_WORDS = 8
const policy = consecutive({ limit: 3 })

type Hash = readonly [high: number, low: number]

/** A sound dump of states under these hashes, each with its index as its first number. */
function dumpWith(hashes: readonly Hash[]): Uint8Array {
  const text = JSON.stringify({ overflow: [], documents: [] })
  const dump = createDump({ states: hashes.length, doubles: 0 }, Int32Array.of(1, 2, 3, 4), TIMES, text)
  for (const [i, [high, low]] of hashes.entries()) {
    const word = dump.statesAt + STATE_WORDS * i
    dump.words.set([low, high], word)
    dump.numbers.set([i, 7], word / 2 + 1)
    dump.floats[word + 6] = Number.POSITIVE_INFINITY
  }
  return seal(dump)
}

/** Numbers without a pattern. */
function randomWord(i: number, seed: number): number {
  let x = Math.imul(i + seed, 0x9e3779b1)
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  return Math.imul(x ^ (x >>> 13), 0xc2b2ae35) ^ (x >>> 16)
}

/** Restores hashes and goes on with new keys. Fails if a state is lost, or a page is fuller than it may be. */
function checkRestored(hashes: readonly Hash[]): void {
  const store = memoryStore({ clock: () => NOW_MS })
  callWithin(10_000, () => restoreMemory(store, dumpWith(hashes)))
  expect(store.size).toBe(hashes.length)
  callWithin(10_000, () => {
    for (let i = 0; i < 3000; i++) chargeStore(store, [[{ key: `new-${i}`, policy, cost: 1 }]])
  })
  expect(store.size).toBe(hashes.length + 3000)
  const pages = dumpableOf(store)?.states.table.pages
  const buffer: [number, number] = [0.5, 0.5]
  const lost = hashes.filter(([high, low], i) => {
    const page = pages?.pageOf(high)
    const slot = page?.find(high, low) ?? -1
    return slot < 0 || page?.read(slot, buffer)[0] !== i
  })
  expect(lost).toEqual([])
  expect(pages?.pages.filter((page) => page.states > 0.92 * page.slots + 1)).toEqual([])
  expect(pages?.pages.reduce((sum, page) => sum + page.states, 0)).toBe(store.size)
}

const random = (count: number): Hash[] =>
  Array.from({ length: count }, (_, i) => [randomWord(i, 1), randomWord(i, 77) || 1])

test.each([0, 14, 15, 16, 59, 60, 235, 236, 942, 943, 944, 1884, 1885, 1886, 2826, 3768, 3769, 3770])(
  'a dump of %d states fills pages without overfilling them',
  (count) => checkRestored(random(count)),
)

test.each<[string, (hash: Hash, i: number) => Hash]>([
  ['in the upper half of the range', ([high, low]) => [high | 0x80000000, low]],
  ['in the last sixteenth of the range', ([high, low]) => [high | 0xf0000000, low]],
  ['in the first thousandth of the range', ([high, low]) => [high & 0x003fffff, low]],
  ['of one page with one high half', ([, low], i) => [i < 1884 ? 5 : randomWord(i, 9), low]],
  ['with few low halves', ([high], i) => [high, 1 + (i % 3)]],
  ['with low halves at the end of a page', ([high], i) => [high, -1 - i]],
])('hashes %s', (_, hostile) => checkRestored(random(5000).map(hostile)))

test('hashes in ascending and in descending order', () => {
  const ascending = random(5000).toSorted(([a], [b]) => (a >>> 0) - (b >>> 0))
  checkRestored(ascending)
  checkRestored(ascending.toReversed())
})

test('more equal hashes than a page holds are no hashes, so the dump is refused and nothing is changed', () => {
  const store = memoryStore({ clock: () => NOW_MS })
  const equal = random(5000).map(([, low]): Hash => [5, low])
  expect(() => callWithin(10_000, () => restoreMemory(store, dumpWith(equal)))).toThrow(
    'restoreMemory: the dump is damaged or incomplete.',
  )
  expect(chargeStore(store, [[{ key: 'a', policy, cost: 1 }]])[0]?.parts[0]?.remaining).toBe(2)
  expect(store.size).toBe(1)
})
