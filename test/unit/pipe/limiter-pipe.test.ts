import { createLimiter, memoryStore, StoreError, tokenBucket } from 'headgate'

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

describe('a copy of a memory store', () => {
  const policy = tokenBucket({ capacity: 1, refill: 1, every: '1m' })
  const limits = ['a', 'b'].map((name) => ({ name, policy, key: () => 'all' }))

  test('is closed with its limiter, which waits for it no longer than timeoutMs', async () => {
    const close = jest.fn(() => new Promise<void>(() => {}))
    const limiter = createLimiter({ limits, store: { ...memoryStore(), close }, timeout: '20ms' })
    await limiter.close()
    expect(close).toHaveBeenCalledTimes(1)
    const failing = { ...memoryStore(), close: () => Promise.reject(new Error('busy')) }
    await expect(createLimiter({ limits, store: failing }).close()).rejects.toThrow('busy')
  })
})
