import { createLimiter, memoryStore } from 'headgate'
import { type Batching, customStore } from 'headgate/store'

const limiterOn = (batching: Batching) =>
  createLimiter({
    limit: 2,
    window: '1m',
    key: () => 'ada',
    store: customStore({ ...memoryStore(), name: 'own', batching }),
  })

test.each<[Partial<Batching>, string]>([
  [
    { maxInFlight: 0 },
    'customStore: batching.maxInFlight must be a whole number of at least 1, or Infinity, got 0.',
  ],
  [{ maxInFlight: undefined as never }, 'batching.maxInFlight must be a whole number'],
  [{ maxKeys: Number.NaN }, 'batching.maxKeys must be a whole number of at least 1, or Infinity, got NaN.'],
  [{ maxKeys: 1.5 }, 'batching.maxKeys must be'],
  [{ maxKeys: '256' as never }, 'batching.maxKeys must be'],
  [{ maxPending: -1 }, 'batching.maxPending must be'],
  [{ stallTimeoutMs: 0 }, 'batching.stallTimeoutMs must be'],
  [
    { stallTimeoutMs: Number.POSITIVE_INFINITY },
    'batching.stallTimeoutMs must be a whole number of at least 1, got',
  ],
])('a limiter is not created on a store whose operations would never leave: %j', (wrong, message) => {
  const create = () => limiterOn({ maxKeys: 256, maxInFlight: 2, ...wrong })
  expect(create).toThrow(TypeError)
  expect(create).toThrow(message)
})

test('a store may batch without bounds, and still has its limit', async () => {
  const unbounded = Number.POSITIVE_INFINITY
  const limiter = limiterOn({ maxKeys: unbounded, maxInFlight: unbounded, maxPending: unbounded })
  const decisions = await Promise.all([1, 2, 3].map(() => limiter.charge({ ip: '192.0.2.7' })))
  expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false])
})
