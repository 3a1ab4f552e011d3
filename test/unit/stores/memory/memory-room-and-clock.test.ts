import fc from 'fast-check'
import { createLimiter, memoryStore, type StoreError, tokenBucket } from 'headgate'
import type { Parts } from '../../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../../support/store-calls.js'

const bucket = tokenBucket({ capacity: 5, refill: 5, every: '1s' })
const parts = (...names: string[]): Parts => names.map((key) => ({ key, policy: bucket, cost: 1 }))

test('charges of several keys, some fresh again and some new, stay within maxKeys', () => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const charge = fc.record({
    keys: fc.uniqueArray(fc.integer({ min: 0, max: 15 }).map(String), { minLength: 1, maxLength: 8 }),
    afterMs: fc.constantFrom(0, 100, 2000),
  })
  fc.assert(
    fc.property(fc.array(charge, { minLength: 5, maxLength: 30 }), (charges) => {
      let nowMs = 0
      const store = memoryStore({ maxKeys: 8, clock: () => nowMs })
      for (const { keys, afterMs } of charges) {
        nowMs += afterMs
        chargeStore(store, [parts(...keys)])
        expect(store.size).toBeLessThanOrEqual(8)
      }
    }),
    { numRuns: 300 },
  )
  jest.restoreAllMocks()
})

test.each([
  [
    'throws',
    (): number => {
      throw new Error('broken')
    },
    /broken/,
  ],
  ['returns NaN', () => Number.NaN, /clock must return milliseconds, got NaN/],
])(
  'a clock that %s makes the charge a store error, and leaves no state behind',
  async (_what, clock, message) => {
    let isBroken = true
    const now = () => (isBroken ? clock() : 1)
    const limiter = createLimiter({ policy: bucket, store: memoryStore({ clock: now }), key: () => 'a' })
    const errors: StoreError[] = []
    limiter.events.on('storeError', (error) => errors.push(error))
    expect(await limiter.charge(undefined)).toMatchObject({ allowed: true, source: 'local' })
    expect(errors.map((error) => error.message)).toEqual([expect.stringMatching(message)])
    isBroken = false
    expect(await limiter.charge(undefined)).toMatchObject({ allowed: true, source: 'store', remaining: 4 })
  },
)
