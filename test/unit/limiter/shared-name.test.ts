import {
  createLimiter,
  fixedWindow,
  loginGuard,
  memoryStore,
  rateLimit,
  type Store,
  slidingWindow,
} from 'headgate'
import { forgetWarnings } from '../../../src/util/warn-once.js'
import { nextTurn } from '../../support/next-turn.js'

const closers: { close(): Promise<void> }[] = []
let warnings: string[]

beforeEach(() => {
  forgetWarnings()
  warnings = []
  jest.spyOn(process, 'emitWarning').mockImplementation((message, options) => {
    if ((options as { code?: string }).code === 'HEADGATE_SAME_NAME') warnings.push(String(message))
  })
})

afterEach(async () => {
  jest.restoreAllMocks()
  await Promise.all(closers.splice(0).map((each) => each.close()))
})

const key = (id: string) => id

function limiter(store: Store, limit: number, options: object = {}) {
  const made = createLimiter<string>({ name: 'api', limit, window: '1m', key, store, ...options })
  closers.push(made)
  return made
}

/** Creates limiters in separate turns of the event loop. */
async function createApart(store: Store, limits: readonly number[]) {
  for (const limit of limits) {
    limiter(store, limit)
    for (let turn = 0; turn < 3; turn++) await nextTurn()
  }
}

test('one name for two limits on one store is a warning that names both', () => {
  const store = memoryStore()
  limiter(store, 4)
  limiter(store, 10)
  limiter(store, 11)
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toMatch(
    /^createLimiter: two limiters named api share their counts in one store, but not their policy: 10-in-1min and 4-in-1min\. Give each its own name\. See http/,
  )
})

test.each<[string, (store: Store) => unknown]>([
  ['middleware', (store) => rateLimit({ name: 'api', limit: 4, window: '1m', store })],
  [
    'one of several limits',
    (store) => rateLimit({ name: 'api', limits: [{ name: 'burst', limit: 4, window: '1m' }], store }),
  ],
  ['a login guard', (store) => loginGuard({ name: 'api', field: 'email', store })],
])('%s created twice in the same way causes no warning', (_, make) => {
  const store = memoryStore()
  make(store)
  make(store)
  expect(warnings).toEqual([])
})

test.each<[string, (store: Store) => unknown]>([
  ['the same policy, at another place', (store) => limiter(store, 4)],
  ['another name', (store) => limiter(store, 10, { name: 'other' })],
  ['another prefix', (store) => limiter(store, 10, { prefix: 'other' })],
  ['another store', () => limiter(memoryStore(), 10)],
  [
    'another kind of policy',
    (store) => createLimiter({ name: 'api', policy: fixedWindow({ limit: 9, window: '1m' }), store }),
  ],
  [
    'other names of limits',
    (store) => createLimiter({ name: 'api', limits: [{ name: 'burst', limit: 9, window: '1m' }], store }),
  ],
  [
    'a policy function',
    (store) => createLimiter({ name: 'api', policy: () => fixedWindow({ limit: 9, window: '1m' }), store }),
  ],
])('%s causes no warning', (_, makeOther) => {
  const store = memoryStore()
  limiter(store, 4)
  makeOther(store)
  expect(warnings).toEqual([])
})

test('a limiter that was closed does not count', async () => {
  const store = memoryStore()
  await limiter(store, 4).close()
  limiter(store, 10)
  expect(warnings).toEqual([])
})

test('a module reloaded with other numbers causes no warning', async () => {
  const store = memoryStore()
  await createApart(store, [4, 10])
  expect(warnings).toEqual([])
})

test('a loop that gives all its limiters one name is a warning', () => {
  const store = memoryStore()
  for (const limit of [4, 10]) limiter(store, limit)
  expect(warnings).toHaveLength(1)
})

test('two policies with one name are told apart by what differs', () => {
  const store = memoryStore()
  for (const debt of [1, 2])
    createLimiter({ name: 'api', policy: slidingWindow({ limit: 4, window: '1h', debt }), store })
  expect(warnings[0]).toMatch(/policy: \{.*"debt":2.*\} and \{.*"debt":1.*\}\. Give/)
})

test('two stores on one client are one store', () => {
  const origin = { client: {} }
  limiter({ ...memoryStore(), origin }, 4)
  limiter({ ...memoryStore(), origin }, 4)
  expect(warnings).toEqual([])
  limiter({ ...memoryStore(), origin }, 10)
  expect(warnings).toHaveLength(1)
})
