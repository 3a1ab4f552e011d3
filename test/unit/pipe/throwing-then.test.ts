import { createLimiter, type Store, StoreError, tokenBucket } from 'headgate'
import { customStore } from 'headgate/store'
import { promisingStore, storeThat } from '../../support/fault-stores.js'

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })

/** An answer whose `then` throws when it is read. */
const withThrowingThen = () => ({
  // biome-ignore lint/suspicious/noThenProperty: a thenable is what this test is about
  get then(): never {
    throw new Error('bad getter')
  },
})

function limiterOn(store: Store, onStoreError?: 'deny') {
  const limiter = createLimiter({ policy, key: () => 'ada', store, ...(onStoreError && { onStoreError }) })
  const errors: StoreError[] = []
  limiter.events.on('storeError', (error) => errors.push(error))
  return { limiter, errors }
}

describe('an answer whose `then` throws', () => {
  test.each([
    ['synchronous', () => withThrowingThen()],
    ['by a promise', async () => withThrowingThen()],
  ])('is a StoreError, and onStoreError decides (%s)', async (_when, answer) => {
    const { limiter, errors } = limiterOn(storeThat(answer))
    expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({ allowed: true, source: 'local' })
    expect(errors).toHaveLength(1)
    expect(errors[0]).toBeInstanceOf(StoreError)
    expect(errors[0]).toMatchObject({
      store: 'faulty',
      cause: expect.objectContaining({ message: 'bad getter' }),
    })
    const denying = limiterOn(storeThat(answer), 'deny').limiter
    expect(await denying.charge({ ip: '192.0.2.7' })).toMatchObject({ allowed: false, source: 'fail-closed' })
  })

  test.each(['refund', 'forget'] as const)('rejects %s with a StoreError', async (method) => {
    const store = promisingStore()
    const { limiter } = limiterOn(
      customStore({
        ...store,
        apply: (operations) =>
          operations[0]?.type === method ? (withThrowingThen() as never) : store.apply(operations),
      }),
    )
    const decision = await limiter.charge({ ip: '192.0.2.7' })
    const run = async () =>
      method === 'refund' ? limiter.refund(decision) : limiter.forget({ ip: '192.0.2.7' })
    await expect(run()).rejects.toThrow(StoreError)
    await expect(limiter.charge({ ip: '192.0.2.7' })).resolves.toMatchObject({
      allowed: true,
      source: 'store',
    })
  })
})
