import { fixedWindow, slidingWindow, tokenBucket } from 'headgate'
import { PolicyRegistry } from '../../../../src/stores/memory/policy-registry.js'

const bucket = (capacity: number) => tokenBucket({ capacity, refill: 1, every: '1s' })

test('policies of equal specs share a number, and others do not', () => {
  const registry = new PolicyRegistry()
  const taken = [bucket(5), bucket(5), bucket(6), fixedWindow({ limit: 5, window: '1s' }), bucket(5)].map(
    (policy) => registry.acquire(policy),
  )
  expect(taken).toEqual([0, 0, 1, 2, 0])
})

test('a number stands for the policy that was registered first', () => {
  const registry = new PolicyRegistry()
  const first = bucket(5)
  const id = registry.acquire(first)
  registry.acquire(bucket(5))
  expect(registry.policyOf(id)).toBe(first)
})

test('a number is reused once the last state of its policy is gone', () => {
  const registry = new PolicyRegistry()
  const policy = bucket(5)
  const id = registry.acquire(policy)
  registry.acquire(bucket(5))
  registry.release(id)
  const window = slidingWindow({ limit: 5, window: '1s' })
  const other = registry.acquire(window)
  expect([id, other]).toEqual([0, 1])
  registry.release(id)
  const reused = registry.acquire(bucket(6))
  expect(reused).toBe(id)
  expect(registry.policyOf(reused).limit).toBe(6)
  expect(registry.policyOf(registry.acquire(policy))).toBe(policy)
  expect(registry.policyOf(other)).toBe(window)
})

test('a registry of policies made for each state grows no larger than the number of states', () => {
  const registry = new PolicyRegistry()
  const held: number[] = []
  for (let i = 1; i <= 10_000; i++) {
    held.push(registry.acquire(bucket(i)))
    if (held.length > 10) registry.release(held.shift() as number)
  }
  expect(Math.max(...held)).toBeLessThan(11)
})
