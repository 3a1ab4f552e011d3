import { fixedWindow, slidingWindow, tokenBucket } from 'headgate'
import { PolicyLabels } from '../../../../src/stores/memory/policy-registry.js'

const bucket = (capacity: number) => tokenBucket({ capacity, refill: 1, every: '1s' })

test('policies of equal kind and numbers share a label, others do not', () => {
  const labels = new PolicyLabels()
  const taken = [bucket(5), bucket(5), bucket(6), fixedWindow({ limit: 5, window: '1s' }), bucket(5)].map(
    (policy) => labels.take(policy),
  )
  expect(taken).toEqual([0, 0, 1, 2, 0])
  expect(labels.size).toBe(3)
})

test('a label tells the policy that came first with it', () => {
  const labels = new PolicyLabels()
  const first = bucket(5)
  const label = labels.take(first)
  labels.take(bucket(5))
  expect(labels.policyOf(label)).toBe(first)
})

test('a label is free when as many states are gone as came', () => {
  const labels = new PolicyLabels()
  const policy = bucket(5)
  const label = labels.take(policy)
  labels.take(bucket(5))
  labels.give(label)
  expect(labels.size).toBe(1)
  labels.give(label)
  expect(labels.size).toBe(0)
  const window = slidingWindow({ limit: 5, window: '1s' })
  expect(labels.policyOf(labels.take(window))).toBe(window)
  expect(labels.policyOf(labels.take(policy))).toBe(policy)
  expect(labels.size).toBe(2)
})

test('policies made for each state take up no more than the states that are left', () => {
  const labels = new PolicyLabels()
  const held: number[] = []
  for (let i = 1; i <= 10_000; i++) {
    held.push(labels.take(bucket(i)))
    if (held.length > 10) labels.give(held.shift() as number)
  }
  expect(labels.size).toBe(10)
  expect(Math.max(...held)).toBeLessThan(11)
})
