import { createLimiter, type Duration, leased, memoryStore, type Store } from 'headgate'
import { compareAndSwapStore, customStore, ownerStore, transactionStore } from 'headgate/store'

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

const hanging = (defaultTimeoutMs?: number): Store =>
  customStore({
    name: 'distant',
    apply: () => new Promise(() => undefined),
    ...(defaultTimeoutMs !== undefined && { defaultTimeoutMs }),
  })

/** Returns after how many milliseconds a charge is decided without the store. */
async function waitOf(store: Store, timeout?: Duration): Promise<number> {
  const options = { limit: 1, window: '1h', key: () => 'a', store, onStoreError: 'deny' } as const
  const limiter = createLimiter(timeout === undefined ? options : { ...options, timeout })
  let decidedAfterMs: number | undefined
  const startMs = performance.now()
  limiter.charge('a').then(() => {
    decidedAfterMs = performance.now() - startMs
  })
  while (decidedAfterMs === undefined) await jest.advanceTimersByTimeAsync(10)
  return Math.round(decidedAfterMs / 10) * 10
}

test.each([
  ['100 ms by default', hanging(), undefined, 100],
  ['the default of the store', hanging(730), undefined, 730],
  ['the option of the limiter, if it is longer', hanging(730), '2s', 2000],
  ['the option of the limiter, if it is shorter', hanging(730), '50ms', 50],
  ['the default of a store that is leased', leased(hanging(730)), undefined, 730],
] as const)('a charge waits for %s', async (_, store, timeout, expected) => {
  expect(await waitOf(store, timeout)).toBe(expected)
})

test.each([0, -1, 0.5, 60_001, Number.NaN, Number.POSITIVE_INFINITY, '1s', null])(
  'defaultTimeoutMs: %p is an error',
  (value) => {
    const message = /^\w+: defaultTimeoutMs must be a whole number of milliseconds from 1 to 60000, got /
    const wrong = { name: 'wrong', defaultTimeoutMs: value as number }
    expect(() => customStore({ ...memoryStore(), ...wrong })).toThrow(message)
    expect(() => ownerStore({ ...wrong, send: async () => undefined })).toThrow(message)
    expect(() => compareAndSwapStore({ ...wrong, read: () => [], swap: () => true })).toThrow(message)
    expect(() =>
      transactionStore({
        ...wrong,
        transaction: (run) => run(undefined),
        lockAndRead: () => ({ states: new Map(), nowMs: 0 }),
        write() {},
      }),
    ).toThrow(message)
  },
)
