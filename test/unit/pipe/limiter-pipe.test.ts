import { createLimiter, memoryStore, type Store, StoreError, tokenBucket } from 'headgate'
import type { LocalLimit } from 'headgate/store'

test('a clock of memory that returns NaN is a StoreError, of a charge and of a refund', async () => {
  let nowMs = 1_790_000_000_000
  const limiter = createLimiter({
    limit: 5,
    window: '1m',
    key: () => 'all',
    store: memoryStore({ clock: () => nowMs }),
    onStoreError: 'deny',
  })
  const failures: unknown[] = []
  limiter.events.on('storeError', (error) => failures.push(error))
  const taken = await limiter.charge({ ip: '192.0.2.7' })
  nowMs = Number.NaN
  expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({ source: 'fail-closed' })
  expect(failures).toEqual([expect.any(StoreError)])
  await expect(limiter.refund(taken)).rejects.toThrow(StoreError)
})

describe('a store of your own with local', () => {
  const policy = tokenBucket({ capacity: 1, refill: 1, every: '1m' })
  const limits = ['a', 'b'].map((name) => ({ name, policy, key: () => 'all' }))

  /** A local limit whose methods need `this`. */
  class OwnLimit implements LocalLimit {
    constructor(readonly inner: LocalLimit) {}
    now = OwnLimit.prototype.readClock
    readClock() {
      return this.inner.now()
    }
    take(...args: Parameters<LocalLimit['take']>) {
      return this.inner.take(...args)
    }
  }

  test('is closed with its limiter, which waits for it no longer than timeoutMs', async () => {
    const close = jest.fn(() => new Promise<void>(() => {}))
    const limiter = createLimiter({ limits, store: { ...memoryStore(), close }, timeout: '20ms' })
    await limiter.close()
    expect(close).toHaveBeenCalledTimes(1)
    const failing = { ...memoryStore(), close: () => Promise.reject(new Error('busy')) }
    await expect(createLimiter({ limits, store: failing }).close()).rejects.toThrow('busy')
  })

  test('keeps the `this` of its local limits', async () => {
    const inner = memoryStore()
    const local = {
      ...inner.local,
      limitOf: (...args: Parameters<typeof inner.local.limitOf>) =>
        new OwnLimit(inner.local.limitOf(...args)),
    }
    const limiter = createLimiter({
      policy,
      key: () => 'all',
      store: { name: 'own', apply: inner.apply, local },
    })
    expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({ allowed: true, source: 'store' })
    expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({ allowed: false })
  })

  test.each([[[]], [[{ type: 'charge', allowed: true, atMs: 0, parts: [] }]], [undefined]])(
    'that returns %j in place of an outcome has failed',
    async (outcomes) => {
      const apply = (() => outcomes) as unknown as Store['apply']
      const store = { name: 'own', apply, local: { ...memoryStore().local, apply } }
      const limiter = createLimiter({ limits, store, onStoreError: 'deny' })
      limiter.events.on('storeError', () => {})
      expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({
        allowed: false,
        source: 'fail-closed',
      })
    },
  )

  test('is asked for the charges that it decides locally', () => {
    const decideLocally = jest.fn(() => undefined)
    void createLimiter({ limits, store: { ...memoryStore(), decideLocally } }).charge({ ip: '192.0.2.7' })
    expect(decideLocally).toHaveBeenCalledTimes(1)
  })
})
