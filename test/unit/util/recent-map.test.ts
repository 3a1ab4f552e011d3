import { RecentMap } from '../../../src/util/recent-map.js'

const AT_LEAST = 100

function filledMap(count: number): RecentMap<number> {
  const map = new RecentMap<number>(AT_LEAST)
  for (let i = 0; i < count; i++) map.set(`key-${i}`, i)
  return map
}

const keptOf = (map: RecentMap<number>, count: number) =>
  Array.from({ length: count }, (_, i) => i).filter((i) => map.get(`key-${i}`) === i)

test.each([1, 99, 100, 101, 199, 200, 201, 1000])(
  'of %d keys at least the last 100 are kept, and at most 200',
  (count) => {
    const kept = keptOf(filledMap(count), count)
    expect(kept.slice(-AT_LEAST)).toEqual(
      Array.from({ length: Math.min(count, AT_LEAST) }, (_, i) => Math.max(0, count - AT_LEAST) + i),
    )
    expect(kept.length).toBeLessThanOrEqual(2 * AT_LEAST)
  },
)

test('setting one key repeatedly evicts no other', () => {
  const map = filledMap(150)
  const kept = keptOf(map, 150)
  for (let i = 0; i < 500; i++) map.set('key-149', 149)
  expect(keptOf(map, 150)).toEqual(kept)
  const full = filledMap(200)
  for (let i = 0; i < 500; i++) full.set('key-199', 199)
  expect(keptOf(full, 200)).toHaveLength(200)
})

test('a deleted key is gone, however long ago it was set', () => {
  for (const key of ['key-0', 'key-99', 'key-100', 'key-149']) {
    const map = filledMap(150)
    expect(map.get(key)).toBeDefined()
    map.delete(key)
    expect(map.get(key)).toBeUndefined()
  }
  const map = filledMap(100)
  map.set('key-new', 1)
  map.set('key-0', -1)
  map.delete('key-0')
  expect(map.get('key-0')).toBeUndefined()
})
