import { createLimiter, fixedWindow, memoryStore, type Store } from 'headgate'
import { customStore } from 'headgate/store'
import type { StoreErrorChoice } from '../../../src/limiter/options.js'
import { failingStore } from '../../support/failing-store.js'
import { nextTurn } from '../../support/next-turn.js'

const LIMIT = 10

function limiterOn(store: Store, onStoreError: StoreErrorChoice | (() => never)) {
  const limiter = createLimiter<string>({
    policy: fixedWindow({ limit: LIMIT, window: '1d' }),
    key: (user) => user,
    store,
    onStoreError,
    timeout: '20ms',
  })
  limiter.events.on('storeError', () => undefined)
  return limiter
}

const SOURCES = [
  ['allow', 'fail-open'],
  ['deny', 'fail-closed'],
  ['local', 'local'],
] as const

test.each(SOURCES)('the units of a late reply stay taken (onStoreError: %s)', async (choice, source) => {
  const store = failingStore()
  const limiter = limiterOn(store, choice)
  store.mode = 'hanging'
  const decision = await limiter.charge('ada', { cost: 4 })
  expect(decision).toMatchObject({ source })
  await store.recover()
  expect(await limiter.peek('ada')).toMatchObject({ source: 'store', remaining: LIMIT - 4 })
})

test.each(SOURCES)(
  'a refund of a decision leaves its late charge taken, before and after the answer (%s)',
  async (choice) => {
    const store = failingStore()
    const limiter = limiterOn(store, choice)
    store.mode = 'hanging'
    const decisions = [await limiter.charge('ada'), await limiter.charge('ada')] as const
    await limiter.refund(decisions[0])
    await store.recover()
    await limiter.refund(decisions[1])
    expect(await limiter.peek('ada')).toMatchObject({ source: 'store', remaining: LIMIT - 2 })
  },
)

test('a late charge stays taken where onStoreError throws', async () => {
  const store = failingStore()
  const limiter = limiterOn(store, () => {
    throw new Error('no choice')
  })
  store.mode = 'hanging'
  await expect(async () => limiter.charge('ada')).rejects.toThrow('no choice')
  await store.recover()
  expect(await limiter.peek('ada')).toMatchObject({ source: 'store', remaining: LIMIT - 1 })
})

test.each(SOURCES)('a late failure takes nothing, and is no unhandled rejection (%s)', async (choice) => {
  let fail: (error: Error) => void = () => undefined
  const store: Store = customStore({
    ...memoryStore(),
    name: 'late',
    apply: () => new Promise((_, reject) => (fail = reject)),
  })
  const unhandled = jest.fn()
  process.on('unhandledRejection', unhandled)
  await limiterOn(store, choice).charge('ada')
  fail(new Error('too late'))
  await nextTurn()
  await new Promise((resolve) => setTimeout(resolve, 20))
  process.off('unhandledRejection', unhandled)
  expect(unhandled).not.toHaveBeenCalled()
})
