import { createLimiter, memoryStore, type Store } from 'headgate'
import { customStore, type Operation } from 'headgate/store'

test('health peeks at a key of its prefix that no limit has, and takes nothing', async () => {
  const applied: Operation[] = []
  const inner = memoryStore()
  const store: Store = customStore({
    name: 'recording',
    apply(operations) {
      applied.push(...operations)
      return inner.apply(operations)
    },
  })
  const limiter = createLimiter({ limit: 5, window: '1m', store, prefix: 'shop', name: 'api' })
  expect(await limiter.health()).toMatchObject({ isHealthy: true, store: 'recording' })
  expect(applied).toMatchObject([{ type: 'charge', parts: [{ key: 'shop:3:health', cost: 0 }] }])
})

test('a second limiter without a name on a store is rejected, unless its prefix differs', () => {
  const store: Store = { ...memoryStore(), name: 'shared' }
  const options = { limit: 5, window: '1m', store } as const
  createLimiter(options)
  expect(() => createLimiter(options)).toThrow(
    'createLimiter: this store already serves a limiter without a name, and a second one would count in the ' +
      "same keys. Create each limiter once, not in a handler, and give it a name, such as name: 'login'.",
  )
  expect(() => createLimiter({ ...options, prefix: 'other' })).not.toThrow()
})
