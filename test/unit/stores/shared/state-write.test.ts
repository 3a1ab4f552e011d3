import { tokenBucket } from 'headgate'
import { applyOperations, type Operation, type State } from 'headgate/store'

const NOW_MS = 1_790_000_000_000

test('a refund under other numbers keeps a state for as long as its own numbers need it', () => {
  const fast = tokenBucket({ capacity: 3, refill: 7, every: '1s' })
  const slow = tokenBucket({ capacity: 5, refill: 1, every: '1s' })
  const states = new Map<string, State>()
  function apply(...operations: Operation[]) {
    const { writes } = applyOperations(operations, (key) => states.get(key), NOW_MS)
    for (const { key, state } of writes) if (state !== undefined) states.set(key, state)
    return writes
  }
  apply({ type: 'charge', parts: [{ key: 'k', policy: fast, cost: 1 }] })
  apply({ type: 'charge', parts: [{ key: 'k', policy: slow, cost: 1 }] })
  const [write] = apply({ type: 'refund', key: 'k', policy: fast, cost: 1, takenAtMs: NOW_MS })
  expect(write).toMatchObject({ ttlMs: 1000 })
  expect(slow.take(write?.state, NOW_MS, 0)).toMatchObject({ remaining: 4, resetAfterMs: 1000 })
})
