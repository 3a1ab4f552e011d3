import { createLimiter, memoryStore, type Store } from 'headgate'
import { customStore, StoreError } from 'headgate/store'
import { recordWarnings } from '../../support/warnings.js'

const warnings = recordWarnings()

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

/** A store that works, fails or hangs, as `mode` says. */
function makeStore() {
  const inner = memoryStore()
  const store = customStore({
    name: 'flaky',
    mode: 'works' as 'works' | 'fails' | 'hangs',
    async apply(operations: Parameters<Store['apply']>[0]) {
      if (store.mode === 'fails') throw new Error('READONLY You can not write')
      if (store.mode === 'hangs') await new Promise(() => undefined)
      return inner.apply(operations)
    },
  })
  return store
}

const base = { limit: 100, window: '1h', key: (id: string) => id } as const

test('each kind of failure is reported once, and each time that the store is back', async () => {
  const store = makeStore()
  const limiter = createLimiter({ ...base, name: 'api', store, timeout: '50ms' })
  async function chargeWhile(mode: typeof store.mode) {
    store.mode = mode
    const decision = limiter.charge('ada')
    await jest.advanceTimersByTimeAsync(60)
    await decision
    await jest.advanceTimersByTimeAsync(20_000) // the circuit breaker closes
  }
  const modes = ['hangs', 'works', 'hangs', 'works', 'fails', 'works', 'fails', 'works', 'works'] as const
  for (const mode of modes) await chargeWhile(mode)
  const [failed, back] = ['HEADGATE_STORE_ERROR', 'HEADGATE_STORE_BACK']
  expect(warnings()).toEqual([failed, back, failed, back])
})

test('a limiter without a name is reported for each store, and one with a name once', async () => {
  const failing = (): Store =>
    customStore({ name: 'failing', apply: () => Promise.reject(new Error('READONLY')) })
  for (const onStoreError of ['deny', 'allow', 'allow'] as const)
    await createLimiter({ ...base, store: failing(), onStoreError }).charge('ada')
  expect(warnings()).toEqual(['HEADGATE_STORE_ERROR', 'HEADGATE_STORE_ERROR', 'HEADGATE_STORE_ERROR'])
  const store = failing()
  for (let i = 0; i < 3; i++) await createLimiter({ ...base, name: 'api', store }).charge('ada')
  expect(warnings().filter((code) => code === 'HEADGATE_STORE_ERROR')).toHaveLength(4)
})

test('an error by which the store replied has its reason, though nothing was changed', async () => {
  const errors = [
    new StoreError('busy', 'other processes changed the key during every attempt', {
      replied: true,
      unsent: true,
    }),
    new StoreError('busy', 'READONLY You can not write'),
  ]
  const store = customStore({ name: 'busy', apply: () => Promise.reject(errors.shift()) })
  const limiter = createLimiter({ ...base, name: 'api', store })
  for (const id of ['ada', 'bob']) await limiter.charge(id)
  expect(warnings()).toEqual(['HEADGATE_STORE_ERROR'])
})
