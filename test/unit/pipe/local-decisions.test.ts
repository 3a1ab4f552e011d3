import { createLimiter, fixedWindow, memoryStore, type Store } from 'headgate'
import type { ChargeResult } from 'headgate/store'

const policy = fixedWindow({ limit: 10, window: '1m' })

/** A user's store that decides charges of two units itself, by `verdict`. */
function localStore(verdict: () => ChargeResult | undefined): Store & { isDown: boolean; charges: number } {
  const memory = memoryStore()
  const store: Store & { isDown: boolean; charges: number } = {
    name: 'own',
    isDown: false,
    charges: 0,
    async apply(operations) {
      store.charges++
      if (store.isDown) throw new Error('connection lost')
      return memory.apply(operations)
    },
    decideLocally({ parts }) {
      return parts[0]?.cost === 2 ? verdict() : undefined
    },
  }
  return store
}

const verdictOf = (allowed: boolean): ChargeResult => {
  const figures = { remaining: 3, resetAfterMs: 5, retryAfterMs: allowed ? 0 : 5, moreAfterMs: 5 }
  return { type: 'charge', allowed, atMs: Date.now(), parts: [{ allowed, ...figures }] }
}

function limiterOn(store: Store) {
  const limiter = createLimiter({ policy, key: (key: string) => key, store })
  const errors: Error[] = []
  limiter.events.on('storeError', (error) => errors.push(error))
  return { limiter, errors }
}

test.each([true, false])(
  'a charge that the store decides itself needs no promise: allowed %p',
  async (allowed) => {
    const store = localStore(() => verdictOf(allowed))
    const { limiter } = limiterOn(store)
    for (let i = 0; i < 2; i++)
      expect(await limiter.charge('bob', { cost: 2 })).toMatchObject({
        allowed,
        remaining: 3,
        source: 'store',
      })
    expect(store.charges).toBe(0)
  },
)

test('all other charges go to the store', async () => {
  const store = localStore(() => undefined)
  const { limiter } = limiterOn(store)
  expect(await limiter.charge('bob', { cost: 2 })).toMatchObject({ allowed: true, remaining: 8 })
  expect(await limiter.charge('bob')).toMatchObject({ allowed: true, remaining: 7 })
  expect(store.charges).toBe(2)
})

test('it is decided also while the circuit breaker is open', async () => {
  jest.useFakeTimers()
  try {
    const store = localStore(() => verdictOf(true))
    const { limiter } = limiterOn(store)
    store.isDown = true
    const states: unknown[] = []
    limiter.events.on('storeState', (state) => states.push(state))
    for (let i = 0; i < 5; i++) {
      expect(await limiter.charge('bob')).toMatchObject({ source: 'local' })
      jest.advanceTimersByTime(20)
    }
    expect(states).toEqual(['open'])
    expect(await limiter.charge('bob', { cost: 2 })).toMatchObject({ allowed: true, source: 'store' })
  } finally {
    jest.useRealTimers()
  }
})

test.each<[string, () => ChargeResult | undefined]>([
  ['is no verdict', () => ({ type: 'charge' }) as ChargeResult],
  ['is a promise', () => Promise.resolve(verdictOf(true)) as never],
  [
    'is thrown',
    () => {
      throw new Error('broken')
    },
  ],
])('what %s is a StoreError, and onStoreError decides', async (_what, verdict) => {
  const { limiter, errors } = limiterOn(localStore(verdict))
  expect(await limiter.charge('bob', { cost: 2 })).toMatchObject({ allowed: true, source: 'local' })
  expect(errors).toEqual([expect.objectContaining({ name: 'StoreError', store: 'own' })])
})

test.each([
  { minMs: 0, maxMs: Number.NaN },
  { minMs: 20, maxMs: 10 },
  { minMs: -1, maxMs: 10 },
  { maxMs: 10 } as never,
])('a limiter is not created on a store that would repeat a denial for ever: %j', (denialTimes) => {
  const create = () => limiterOn({ ...localStore(() => undefined), denialTimes })
  expect(create).toThrow(TypeError)
  expect(create).toThrow(
    'the store own: denialTimes must be milliseconds with 0 <= minMs <= maxMs, got minMs',
  )
})
