import { tokenBucket } from 'headgate'
import { ModelStore } from '../reference/model-store.js'

const policy = tokenBucket({ capacity: 5, refill: 5, every: '5s' })
const START_MS = 1_790_000_000_000
const never = Number.POSITIVE_INFINITY

/** The published table of throttled: time, cost, and what is left then. */
const GOLDEN = [
  [0, 6, { allowed: false, retryAfterMs: never }],
  [0, 1, { allowed: true, remaining: 4, resetAfterMs: 1000 }],
  [0, 1, { allowed: true, remaining: 3, resetAfterMs: 2000 }],
  [0, 3, { allowed: true, remaining: 0, resetAfterMs: 5000 }],
  [0, 1, { allowed: false, retryAfterMs: 1000, resetAfterMs: 5000 }],
  [3000, 1, { allowed: true, remaining: 2, resetAfterMs: 3000 }],
  [3100, 1, { allowed: true, remaining: 1, resetAfterMs: 3900 }],
  [4000, 1, { allowed: true, remaining: 1, resetAfterMs: 4000 }],
  [8000, 1, { allowed: true, remaining: 4, resetAfterMs: 1000 }],
  [9500, 1, { allowed: true, remaining: 4, resetAfterMs: 1000 }],
  [9500, 0, { allowed: true, remaining: 4 }],
  [9500, 2, { allowed: true, remaining: 2, resetAfterMs: 3000 }],
  [9500, 5, { allowed: false, retryAfterMs: 3000 }],
] as const

test("the model's token bucket decides as throttled's published table", () => {
  const model = new ModelStore(true)
  for (const [atMs, cost, figures] of GOLDEN) {
    const charge = { type: 'charge', parts: [{ key: 'key', policy, cost }] } as const
    expect(model.apply(charge, START_MS + atMs)).toMatchObject({ parts: [figures] })
  }
})
