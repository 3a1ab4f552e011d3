import { fixedWindow, slidingWindow, tokenBucket } from 'headgate'

test.each([
  [tokenBucket({ capacity: 10, refill: 20, every: '1m' }), 0.25, 2, 30_000 / 0.25 / 10],
  [tokenBucket({ capacity: 3, refill: 3, every: '1m' }), 1 / 3, 1, 60_000],
  [tokenBucket({ capacity: 1, refill: 1, every: '1s' }), 0.1, 1, 10_000],
])('a share of a bucket is refilled as much more slowly (%#)', (policy, share, capacity, intervalMs) => {
  const scaled = policy.scale(share)
  expect(scaled).toMatchObject({ limit: capacity, name: policy.name })
  const near = expect.closeTo(intervalMs, 3)
  expect(scaled.spec).toEqual({ kind: 'token-bucket', capacity, intervalMs: near })
})

test.each([
  [100, 0.29, 29],
  [10, 0.25, 2],
  [3, 0.1, 1],
  [7, 1, 7],
])('a share of a window of %d: %d of it is %d, in the same window', (limit, share, expected) => {
  const window = '1m'
  const policies = [
    fixedWindow({ limit, window }),
    fixedWindow({ limit, window, startsAt: 'first-request' }),
    slidingWindow({ limit, window }),
  ]
  for (const policy of policies) {
    expect(policy.scale(share)).toMatchObject({ limit: expected, windowMs: 60_000 })
    expect(policy.scale(share).spec).toEqual({ ...policy.spec, limit: expected })
  }
})
