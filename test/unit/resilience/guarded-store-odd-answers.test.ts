import { createLimiter, type Store, StoreError, tokenBucket } from 'headgate'
import { promisingStore, storeThat } from '../../support/fault-stores.js'

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })

/** An answer that cannot even be asked whether it is a promise. */
const unreadable = () => ({
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
    ['at once', () => unreadable()],
    ['later', async () => unreadable()],
  ])('is a StoreError, and the request goes the way of onStoreError (%s)', async (_when, answer) => {
    const { limiter, errors } = limiterOn(storeThat(answer))
    expect(await limiter.charge({})).toMatchObject({ allowed: true, source: 'open' })
    expect(errors).toHaveLength(1)
    expect(errors[0]).toBeInstanceOf(StoreError)
    expect(errors[0]).toMatchObject({
      store: 'faulty',
      cause: expect.objectContaining({ message: 'bad getter' }),
    })
    const denying = limiterOn(storeThat(answer), 'deny').limiter
    expect(await denying.charge({})).toMatchObject({ allowed: false, source: 'closed' })
  })

  test.each(['refund', 'forget'] as const)('is a StoreError from %s too', async (method) => {
    const { limiter } = limiterOn({ ...promisingStore(), [method]: unreadable })
    const decision = await limiter.charge({})
    const ask = async () => (method === 'refund' ? limiter.refund(decision) : limiter.forget({}))
    await expect(ask()).rejects.toThrow(StoreError)
    await expect(limiter.charge({})).resolves.toMatchObject({ allowed: true, source: 'store' })
  })
})

describe('a figure of a store', () => {
  const part = { allowed: false, remaining: 0, resetAfterMs: 1, retryAfterMs: 1, moreAfterMs: 1 }
  const answering = (fields: object) =>
    limiterOn(storeThat(() => [{ allowed: false, atMs: 1, parts: [{ ...part, ...fields }] }]))
  const times = ['resetAfterMs', 'retryAfterMs', 'moreAfterMs']

  test.each(times.flatMap((time) => [1e300, Number.MAX_VALUE, 1e18].map((ms) => [time, ms] as const)))(
    'of %s: %d is nonsense, since no policy waits for so long',
    async (time, ms) => {
      const { limiter, errors } = answering({ [time]: ms })
      expect(await limiter.charge({})).toMatchObject({ allowed: true, source: 'open' })
      expect(errors).toEqual([expect.any(StoreError)])
    },
  )

  test.each([1e300, Number.MAX_VALUE])('of remaining: %d is nonsense', async (remaining) => {
    const { limiter, errors } = answering({ remaining })
    expect(await limiter.charge({})).toMatchObject({ source: 'open' })
    expect(errors).toEqual([expect.any(StoreError)])
  })

  test.each(
    times.flatMap((time) =>
      [0, 1, 10 * 365 * 86_400_000, Number.POSITIVE_INFINITY].map((ms) => [time, ms] as const),
    ),
  )('of %s: %d is an answer', async (time, ms) => {
    const { limiter, errors } = answering({ [time]: ms })
    expect(await limiter.charge({})).toMatchObject({ allowed: false, source: 'store', [time]: ms })
    expect(errors).toEqual([])
  })
})
