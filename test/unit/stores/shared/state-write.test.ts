import { tokenBucket } from 'headgate'
import { applyOperations, type Operation, type State } from 'headgate/store'

const NOW_MS = 1_790_000_000_000
const fast = tokenBucket({ capacity: 3, refill: 7, every: '1s' })
const slow = tokenBucket({ capacity: 5, refill: 1, every: '1s' })

function keyOf(state: State) {
  return (...operations: Operation[]) => applyOperations(operations, () => state, NOW_MS).writes
}

test('a refund under other numbers leaves the expiry to those that a state was written under', () => {
  const { next: state } = slow.take(undefined, NOW_MS - 999, 2)
  const [write] = keyOf(state as State)({
    type: 'refund',
    key: 'k',
    policy: fast,
    cost: 1,
    takenAtMs: NOW_MS,
  })
  expect(fast.take(write?.state, NOW_MS, 0).resetAfterMs).toBe(0)
  expect(write).toMatchObject({ keepsExpiry: true, ttlMs: 1 })
  expect(slow.take(write?.state, NOW_MS, 0)).toMatchObject({ remaining: 4, resetAfterMs: 1 })
})

test('a charge in the same batch sets the expiry', () => {
  const { next: state } = slow.take(undefined, NOW_MS, 2)
  const [write] = keyOf(state as State)(
    { type: 'refund', key: 'k', policy: slow, cost: 1, takenAtMs: NOW_MS },
    { type: 'charge', parts: [{ key: 'k', policy: slow, cost: 3 }] },
    { type: 'refund', key: 'k', policy: fast, cost: 1, takenAtMs: NOW_MS },
  )
  expect(write).toEqual({ key: 'k', state: [3, NOW_MS], ttlMs: 3000 })
})
