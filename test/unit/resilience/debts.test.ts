import { consecutive, fixedWindow, type Refund, slidingWindow, tokenBucket } from 'headgate'
import { Debts } from '../../../src/resilience/debts.js'

const bucket = tokenBucket({ capacity: 10, refill: 10, every: '10s' })
const NOW_MS = Date.UTC(2026, 0, 1)
const partOf = (key: string, cost = 1, policy = bucket) => ({ key, policy, cost })

test('debts of one key add up, and are taken out once', () => {
  const debts = new Debts(10)
  debts.add(partOf('a', 2), NOW_MS)
  debts.add(partOf('a', 3), NOW_MS)
  debts.add(partOf('b'), NOW_MS)
  expect(debts.size).toBe(2)
  expect(debts.takeOut(10, NOW_MS)).toEqual([
    { key: 'a', policy: bucket.overdrawing(), cost: 5 },
    { key: 'b', policy: bucket.overdrawing(), cost: 1 },
  ])
  expect(debts.takeOut(10, NOW_MS)).toEqual([])
})

test('so many keys are taken out at once, the oldest first', () => {
  const debts = new Debts(10)
  for (const key of ['a', 'b', 'c']) debts.add(partOf(key), NOW_MS)
  expect(debts.takeOut(2, NOW_MS).map(({ key }) => key)).toEqual(['a', 'b'])
  expect(debts.takeOut(2, NOW_MS).map(({ key }) => key)).toEqual(['c'])
})

test.each([
  ['a bucket, with time', bucket, 3000, 7],
  ['a bucket, begun units whole', bucket, 3500, 7],
  ['a bucket, all', bucket, 10_000, undefined],
  ['a fixed window, not before its end', fixedWindow({ limit: 10, window: '10s' }), 9999, 10],
  ['a fixed window, at its end', fixedWindow({ limit: 10, window: '10s' }), 10_000, undefined],
  ['a sliding window', slidingWindow({ limit: 10, window: '10s' }), 11_000, undefined],
  ['a count in a row, never', consecutive({ limit: 10 }), 1e9, 10],
])('a debt lapses as the policy gives units back: %s', (_what, policy, laterMs, owed) => {
  const debts = new Debts(10)
  debts.add(partOf('a', 10, policy), NOW_MS)
  expect(debts.takeOut(1, NOW_MS + laterMs)[0]?.cost).toBe(owed)
})

test('what is forgiven is not owed, and nothing below nothing', () => {
  const debts = new Debts(10)
  const [first, second] = [debts.add(partOf('a', 2), NOW_MS), debts.add(partOf('a', 3), NOW_MS)] as [
    Refund,
    Refund,
  ]
  debts.forgive(first, NOW_MS + 100)
  expect(debts.takeOut(1, NOW_MS + 100)[0]?.cost).toBe(3)
  debts.forgive(second, NOW_MS + 100)
  expect(debts.takeOut(1, NOW_MS + 100)).toEqual([])
  debts.forget(partOf('a'))
  expect(debts.size).toBe(0)
})

test('twice a limit is the most that can be owed for a key', () => {
  const debts = new Debts(10)
  for (let i = 0; i < 20; i++) expect(debts.add(partOf('a'), NOW_MS)).toBeDefined()
  expect(debts.add(partOf('a'), NOW_MS)).toBeUndefined()
  expect(debts.takeOut(1, NOW_MS)[0]?.cost).toBe(20)
})

test('put back, a debt is as old as it was, and with what came meanwhile', () => {
  const debts = new Debts(10)
  debts.add(partOf('a', 5), NOW_MS)
  const [out] = debts.takeOut(1, NOW_MS + 1000)
  expect(out?.cost).toBe(4)
  debts.add(partOf('a', 2), NOW_MS + 1500)
  debts.putBack(partOf('a'), NOW_MS + 2000)
  expect(debts.takeOut(1, NOW_MS + 2000)[0]?.cost).toBe(5) // 3 left of the first, 1.5 of the second, which is begun
})

test('forgiven while it is out, a debt does not come back', () => {
  const debts = new Debts(10)
  const owed = debts.add(partOf('a', 3), NOW_MS) as Refund
  debts.takeOut(1, NOW_MS)
  debts.forgive(owed, NOW_MS)
  debts.putBack(partOf('a'), NOW_MS)
  expect(debts.size).toBe(0)
})

test('what is out is not taken out again', () => {
  const debts = new Debts(10)
  debts.add(partOf('a'), NOW_MS)
  debts.takeOut(1, NOW_MS)
  debts.add(partOf('a'), NOW_MS)
  expect(debts.takeOut(1, NOW_MS)).toEqual([])
  debts.done(partOf('a'))
  expect(debts.takeOut(1, NOW_MS)[0]?.cost).toBe(1)
})

test.each([
  ['a bucket', bucket, 5 - 3 + 5],
  ['a fixed window', fixedWindow({ limit: 10, window: '1s' }), 5],
  ['a sliding window', slidingWindow({ limit: 10, window: '1s' }), 5],
])('what is noted late owes what the policy still counts, beside newer debts: %s', (_what, policy, owed) => {
  const debts = new Debts(10)
  debts.add(partOf('a', 5, policy), NOW_MS + 3000)
  debts.add(partOf('a', 5, policy), NOW_MS, NOW_MS + 3000)
  expect(debts.takeOut(1, NOW_MS + 3000)[0]?.cost).toBe(owed)
})

test('forgotten while it is out, a debt is not put back', () => {
  const debts = new Debts(10)
  debts.add(partOf('a'), NOW_MS)
  debts.takeOut(1, NOW_MS)
  debts.forget(partOf('a'))
  debts.putBack(partOf('a'), NOW_MS)
  expect(debts.size).toBe(0)
})

test('what never lapses does not keep others from making room', () => {
  const debts = new Debts(3)
  debts.add(partOf('never', 1, consecutive({ limit: 10 })), NOW_MS)
  for (const key of ['b', 'c']) debts.add(partOf(key), NOW_MS)
  expect(debts.add(partOf('d'), NOW_MS + 1000)).toBeDefined()
})

test('full, it notes no new keys until old debts have lapsed, and goes on with those it knows', () => {
  const debts = new Debts(3)
  for (const key of ['a', 'b', 'c']) expect(debts.add(partOf(key), NOW_MS)).toBeDefined()
  expect(debts.add(partOf('d'), NOW_MS)).toBeUndefined()
  expect(debts.add(partOf('a'), NOW_MS)).toBeDefined() // owes 2 now, until 2 s later
  expect(debts.add(partOf('d'), NOW_MS + 500)).toBeUndefined()
  expect(debts.add(partOf('d'), NOW_MS + 1000)).toBeDefined()
  expect(debts.size).toBeLessThanOrEqual(3)
})
