import {
  createLimiter,
  fixedWindow,
  type Limiter,
  loginGuard,
  memoryStore,
  rateLimit,
  type Store,
  slidingWindow,
} from 'headgate'
import { limiterFrom } from '../../../src/limiter/create-limiter.js'
import { readLimiterOptions } from '../../../src/limiter/read-options.js'
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

type Make = (store: Store, limit: number) => Limiter<string>

/** Creates limiters at one place, in separate turns of the event loop. */
async function createApart(store: Store, limits: readonly number[], make: Make = limiter) {
  const made: Limiter<string>[] = []
  for (const limit of limits) {
    for (let turn = 0; turn < 3; turn++) await nextTurn() // first, so that all have one stack
    made.push(make(store, limit))
  }
  return made
}

function severalLimits(store: Store, limit: number): Limiter<string> {
  const limits = [{ name: 'burst', limit, window: '1m', key }] as const
  const made = createLimiter<string>({ name: 'api', limits, store })
  closers.push(made)
  return made
}

test('one name for two limits on one store is a warning that names both places', () => {
  const store = memoryStore()
  limiter(store, 4)
  limiter(store, 10)
  limiter(store, 11)
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toMatch(
    /^createLimiter: two limiters named api share their counts in one store, but not their policy: 10-in-\S+ \(at .*shared-name\.test\.ts:\d+:\d+\)+ and 4-in-\S+ \(at .*shared-name\.test\.ts:\d+:\d+\)+\. Give each its own name\. See http/,
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

test('a reloaded module causes no warning while late requests still reach the old limiter', async () => {
  const store = memoryStore()
  const [old, fresh] = await createApart(store, [4, 10])
  for (const each of [old, old, fresh, old, fresh, old, fresh, fresh]) await each?.charge('ada')
  expect(warnings).toEqual([])
})

test.each<[string, Make]>([
  ['createLimiter', limiter],
  ['one of several limits', severalLimits],
])(
  'a loop that awaits between limiters of one name warns once they are charged in turns: %s',
  async (_, make) => {
    const store = memoryStore()
    const [free, pro, team] = await createApart(store, [4, 10, 11], make)
    expect(warnings).toEqual([])
    for (let i = 0; i < 3; i++) for (const each of [free, pro]) await each?.charge('ada')
    expect(warnings).toEqual([])
    for (const each of [free, team, free, pro]) await each?.charge('ada')
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('two limiters named api share their counts in one store')
  },
)

test('a function that creates a limiter for each tenant at its first request causes a warning', async () => {
  const store = memoryStore()
  const limiters = new Map<string, Limiter<string>>()
  const limits: Readonly<Record<string, number>> = { free: 4, pro: 10 }
  async function charge(plan: string) {
    await nextTurn()
    const found = limiters.get(plan) ?? limiter(store, limits[plan] ?? 1)
    limiters.set(plan, found)
    await found.charge('ada')
  }
  for (const plan of ['free', 'free', 'pro', 'free', 'pro', 'free', 'pro']) await charge(plan)
  expect(warnings).toEqual([])
  await charge('free')
  expect(warnings).toHaveLength(1)
})

test('limiters of one policy from one place may be charged in turns', async () => {
  const made = await createApart(memoryStore(), [4, 4])
  for (let i = 0; i < 10; i++) for (const each of made) await each.charge('ada')
  expect(warnings).toEqual([])
})

test('charges are watched only until the warning, and only if limiters share a name', async () => {
  const store = memoryStore()
  const settingsOf = (limit: number) =>
    readLimiterOptions('test', { name: 'api', limit, window: '1m', key, store })
  const charged: { limiter: Limiter<string>; watches: readonly unknown[] }[] = []
  for (const limit of [4, 10]) {
    for (let turn = 0; turn < 3; turn++) await nextTurn()
    charged.push(limiterFrom<string>('test', settingsOf(limit)))
    await charged[0]?.limiter.charge('ada')
    expect(charged[0]?.watches).toHaveLength(charged.length - 1)
  }
  for (let i = 0; i < 5; i++) for (const each of charged) await each.limiter.charge('ada')
  expect(warnings).toHaveLength(1)
  expect(charged.map(({ watches }) => watches.length)).toEqual([0, 0])
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
  expect(warnings[0]).toMatch(/policy: 4-in-1h, debt 2 \(at .* and 4-in-1h, debt 1 \(at /)
})

test('two stores on one client are one store', () => {
  const origin = { client: {} }
  limiter({ ...memoryStore(), origin }, 4)
  limiter({ ...memoryStore(), origin }, 4)
  expect(warnings).toEqual([])
  limiter({ ...memoryStore(), origin }, 10)
  expect(warnings).toHaveLength(1)
})
