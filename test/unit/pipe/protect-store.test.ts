import { createLimiter, memoryStore, StoreError } from 'headgate'

test('a clock of memory that returns NaN is a StoreError, of a charge and of a refund', () => {
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
  const taken = limiter.charge({})
  if (taken instanceof Promise) throw new Error('memory answers at once')
  nowMs = Number.NaN
  expect(limiter.charge({})).toMatchObject({ source: 'closed' })
  expect(failures).toEqual([expect.any(StoreError)])
  expect(() => limiter.refund(taken)).toThrow(StoreError)
})
