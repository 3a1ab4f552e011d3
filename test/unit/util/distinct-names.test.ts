import { DistinctNames, distinctCount, mergeHashes } from '../../../src/util/distinct-names.js'

/** Addresses, which differ in few characters. */
const address = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`

function namesOf(from: number, to: number): DistinctNames {
  const names = new DistinctNames()
  for (let i = from; i < to; i++) names.add(address(i))
  return names
}

test('up to 999 names are counted exactly, however often each occurs', () => {
  const names = new DistinctNames()
  for (let i = 0; i < 3 * 999; i++) names.add(address(i % 999))
  expect(names.count).toBe(999)
})

test.each([2000, 20_000, 100_000])('%d names are estimated, within four standard errors', (size) => {
  expect(Math.abs(namesOf(0, size).count / size - 1)).toBeLessThan(4 / Math.sqrt(1000))
})

test('sets are merged as if one had seen all names', () => {
  const both = (a: DistinctNames, b: DistinctNames) => distinctCount(mergeHashes(a.hashes(), b.hashes()))
  expect(both(namesOf(0, 300), namesOf(200, 500))).toBe(500)
  expect(both(namesOf(0, 300), namesOf(0, 300))).toBe(300)
  expect(both(namesOf(0, 8000), namesOf(4000, 12_000))).toBe(namesOf(0, 12_000).count)
  expect(both(namesOf(0, 0), namesOf(0, 3))).toBe(3)
})

test('at most 1,000 hashes are kept, in ascending order', () => {
  const hashes = namesOf(0, 5000).hashes()
  expect(hashes).toHaveLength(1000)
  expect(hashes).toEqual([...hashes].sort((a, b) => a - b))
})
