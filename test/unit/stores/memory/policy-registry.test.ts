import { fixedWindow, type Policy, slidingWindow, tokenBucket } from 'headgate'
import { PolicyRegistry } from '../../../../src/stores/memory/policy-registry.js'

const bucket = (capacity: number) => tokenBucket({ capacity, refill: 1, every: '1s' })

/** Counts one more state of a policy, which has the policy's numbers. Returns the entry's number. */
function acquire(registry: PolicyRegistry, policy: Policy): number {
  return registry.acquire(policy, policy.take(undefined, 0, 1).next ?? []).id
}

test('policies of equal specs share a number, and others do not', () => {
  const registry = new PolicyRegistry()
  const taken = [bucket(5), bucket(5), bucket(6), fixedWindow({ limit: 5, window: '1s' }), bucket(5)].map(
    (policy) => acquire(registry, policy),
  )
  expect(taken).toEqual([0, 0, 1, 2, 0])
})

test('a number stands for the policy that was registered first', () => {
  const registry = new PolicyRegistry()
  const first = bucket(5)
  const id = acquire(registry, first)
  acquire(registry, bucket(5))
  expect(registry.entryOf(id).policy).toBe(first)
})

test('a number is reused once the last state of its policy is gone', () => {
  const registry = new PolicyRegistry()
  const policy = bucket(5)
  const id = acquire(registry, policy)
  acquire(registry, bucket(5))
  registry.release({ id })
  const window = slidingWindow({ limit: 5, window: '1s' })
  const other = acquire(registry, window)
  expect([id, other]).toEqual([0, 1])
  registry.release({ id })
  const reused = acquire(registry, bucket(6))
  expect(reused).toBe(id)
  expect(registry.entryOf(reused).policy.limit).toBe(6)
  expect(registry.entryOf(acquire(registry, policy)).policy).toBe(policy)
  expect(registry.entryOf(other).policy).toBe(window)
})

test('a registry of policies made for each state grows no larger than the number of states', () => {
  const registry = new PolicyRegistry()
  const held: number[] = []
  for (let i = 1; i <= 10_000; i++) {
    held.push(acquire(registry, bucket(i)))
    if (held.length > 10) registry.release({ id: held.shift() as number })
  }
  expect(Math.max(...held)).toBeLessThan(11)
})
