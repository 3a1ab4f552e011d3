import { createLimiter, fixedWindow, type Policy, type Store, tokenBucket } from 'headgate'
import { redisStore } from 'headgate/redis'
import { customStore } from 'headgate/store'
import { useRedis } from './use-redis.js'

const redis = useRedis()

/** Returns a limiter on Redis, and the number of charges that its store gets. */
function limiterOf(name: string, policy: Policy) {
  let charges = 0
  const store = redisStore(redis.client)
  const counting: Store = customStore({
    ...store,
    apply(operations, settle) {
      charges += operations.filter(({ type }) => type === 'charge').length
      return store.apply(operations, settle)
    },
  })
  const limiter = createLimiter({ name, policy, key: (id: string) => id, store: counting, timeout: 5000 })
  return { limiter, chargeCount: () => charges }
}

test('100 that wait for one key in Redis are served in order, at its rate, with few calls', async () => {
  const { limiter, chargeCount } = limiterOf(
    'one-process',
    tokenBucket({ capacity: 4, refill: 100, every: '1s' }),
  )
  await limiter.charge('a', { cost: 4 })
  const order: number[] = []
  const sinceMs = performance.now()
  const waits = Array.from({ length: 100 }, () => limiter.waitFor('a'))
  for (const [i, wait] of waits.entries()) wait.then(() => order.push(i))
  const decisions = await Promise.all(waits)
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(100)
  expect(order).toEqual(order.map((_, i) => i))
  expect(performance.now() - sinceMs).toBeGreaterThan(940)
  expect(chargeCount()).toBeLessThan(300)
})

test('what aborted charges took is refunded: two limiters give out each unit once', async () => {
  const policy = fixedWindow({ limit: 60, window: '1h', startsAt: 'first-request' })
  const [one, two] = [limiterOf('shared', policy).limiter, limiterOf('shared', policy).limiter]
  const controllers = Array.from({ length: 160 }, () => new AbortController())
  const waits = controllers.map(({ signal }, i) => (i % 2 ? one : two).waitFor('a', { signal }))
  const outcomes = Promise.allSettled(waits)
  for (const controller of controllers.slice(0, 60)) {
    controller.abort()
    await new Promise((resolve) => setImmediate(resolve)) // some of the others charge meanwhile
  }
  await new Promise((resolve) => setTimeout(resolve, 50))
  await Promise.all([one.close(), two.close()])
  const kinds = (await outcomes).map((outcome) =>
    outcome.status === 'rejected' ? 'aborted' : outcome.value.allowed ? 'allowed' : 'denied',
  )
  const count = (kind: string) => kinds.filter((each) => each === kind).length
  const { remaining } = await one.peek('a')
  expect(count('allowed') + remaining).toBe(60)
  expect(count('aborted')).toBeGreaterThan(0)
  expect(count('denied')).toBeGreaterThan(0)
})
