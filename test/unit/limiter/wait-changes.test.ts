import {
  createLimiter,
  type Decision,
  fixedWindow,
  type LimiterOptions,
  memoryStore,
  type Policy,
  type Store,
  sharedSettings,
  tokenBucket,
} from 'headgate'
import { customStore } from 'headgate/store'

const key = (id: string) => id
const hourly = (limit: number) => fixedWindow({ limit, window: '1h', startsAt: 'first-request' })

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

/** A store that follows the fake timers, and counts its charges. */
function countingStore(): Store & { charges: number } {
  const memory = memoryStore({ clock: Date.now })
  return customStore({
    ...memory,
    charges: 0,
    async apply(operations) {
      this.charges += operations.filter(({ type }) => type === 'charge').length
      return memory.apply(operations)
    },
  })
}

const turn = () => jest.advanceTimersByTimeAsync(0)

/** Returns a limiter whose calls of `waitFor` record who was allowed or denied, in order. */
function recording(options: LimiterOptions<string>) {
  const limiter = createLimiter<string>(options)
  const order: string[] = []
  const wait = async (id: string, name = id, waitOptions?: Parameters<typeof limiter.waitFor>[1]) => {
    const decision = await limiter.waitFor(id, waitOptions)
    order.push(decision.allowed ? name : `${name} ${decision.source}`)
    return decision
  }
  return { limiter, order, wait }
}

describe('a policy function', () => {
  /** A limiter of plans: `free` allows one charge per hour, and `pro` three. */
  function plans(
    options: Partial<LimiterOptions<string>> = {},
    policyOf = (policy: Policy) => policy as unknown,
  ) {
    const policies = { free: hourly(1), pro: hourly(3) }
    const planOf = new Map<string, keyof typeof policies>()
    const policy = ((id: string) => policyOf(policies[planOf.get(id) ?? 'free'])) as () => Policy
    const store = countingStore()
    const made = recording({ limits: [{ name: 'plan', policy, key, ...options }], store, denyCache: false })
    return { ...made, planOf, store }
  }

  test.each([
    ['sync', (policy: Policy) => policy],
    ['async', async (policy: Policy) => policy],
  ])(
    '%s: an upgraded client that charges again gets the new numbers, and so does its waiter',
    async (_, of) => {
      const { limiter, order, wait, planOf } = plans({}, of)
      await limiter.charge('ada')
      const waits = [wait('ada', 'first'), wait('ada', 'second')]
      await turn()
      planOf.set('ada', 'pro')
      await jest.advanceTimersByTimeAsync(60_000)
      expect(order).toEqual([])
      waits.push(wait('ada', 'third', { maxWait: '1s' }))
      await jest.advanceTimersByTimeAsync(1000)
      expect(order).toEqual(['first', 'second', expect.stringMatching(/^third (store|deny-cache)$/)])
      await Promise.all(waits)
    },
  )

  test('of clients that share a key: those with other numbers do not call the store for the first', async () => {
    const { limiter, order, wait, planOf, store } = plans({ key: () => 'all' })
    await limiter.charge('ada')
    const first = wait('ada')
    await turn()
    const { charges } = store
    planOf.set('bob', 'pro')
    const others = Array.from({ length: 5 }, () => wait('bob', 'bob', { maxWait: '1m' }))
    await jest.advanceTimersByTimeAsync(30_000)
    expect(store.charges).toBe(charges)
    await jest.advanceTimersByTimeAsync(30_000)
    expect(order).toEqual(Array(5).fill('bob deny-cache'))
    await jest.advanceTimersByTimeAsync(3_600_000)
    await Promise.all([first, ...others])
    expect(order.at(-1)).toBe('ada')
  })
})

test('a change that comes while a charge is under way reaches it as well', async () => {
  let limit = 1
  const memory = countingStore()
  const store: Store = customStore({
    ...memory,
    async apply(operations) {
      const results = await memory.apply(operations)
      await new Promise((resolve) => setTimeout(resolve, 10))
      return results
    },
  })
  const policies = [hourly(1), hourly(2)]
  const policy = () => policies[limit - 1] as Policy
  const { limiter, order, wait } = recording({ limits: [{ name: 'x', policy, key }], store })
  const charged = limiter.charge('a')
  await jest.advanceTimersByTimeAsync(10)
  await charged
  const waiting = wait('a')
  await jest.advanceTimersByTimeAsync(5)
  limit = 2
  limiter.mode = 'enforce'
  await jest.advanceTimersByTimeAsync(20)
  expect(order).toEqual(['a'])
  await waiting
})

test('each try reads the key, the cost and the access rules anew', async () => {
  let tenant = 'one'
  let cost = 1
  const exempt = new Set<string>()
  const policy = tokenBucket({ capacity: 2, refill: 1, every: '1m' })
  const skip = (id: string) => exempt.has(id)
  const { limiter, wait } = recording({
    limits: [{ name: 'x', policy, key: () => tenant, cost: () => cost }],
    store: countingStore(),
    denyCache: false,
    skip,
  })
  await limiter.charge('a', { cost: 2 })
  const decisions: Decision[] = []
  const waits = ['a', 'b', 'c'].map((id) => wait(id).then((decision) => decisions.push(decision)))
  await turn()
  cost = 2
  exempt.add('b')
  await jest.advanceTimersByTimeAsync(60_000)
  expect(decisions).toMatchObject([]) // the first needs two units now
  await jest.advanceTimersByTimeAsync(60_000)
  expect(decisions).toMatchObject([{ allowed: true, parts: [{ cost: 2 }] }])
  tenant = 'two'
  await jest.advanceTimersByTimeAsync(60_000) // the second has its turn, and then the third
  await Promise.all(waits)
  expect(decisions.slice(1)).toMatchObject([
    { allowed: true, source: 'none' },
    { allowed: true, remaining: 0, parts: [{ cost: 2 }] },
  ])
  tenant = 'one'
  expect(await limiter.peek('a')).toMatchObject({ remaining: 1 })
})

describe('a document of settings', () => {
  function following(store: Store = memoryStore({ clock: Date.now })) {
    const settings = sharedSettings(store)
    const limits = [
      { name: 'all', policy: hourly(10), key: () => 'all' },
      { name: 'tenant', policy: hourly(2), key },
    ]
    const made = recording({ name: 'jobs', store, settings, limits })
    const set = async (document: object) => {
      await settings.change('jobs', () => document, { by: 'ada', reason: 'a test' })
      await turn()
    }
    return { ...made, set }
  }

  test('reaches all who wait at once: raised limits, exemptions and blocks, at any place of a queue', async () => {
    const { limiter, order, wait, set } = following()
    await limiter.charge('ops', { cost: 2 })
    for (let i = 0; i < 4; i++) await limiter.charge(`${i}`, { cost: 2 })
    const waits = ['a', 'b', 'c', 'd', 'a'].map((id) => wait(id))
    await turn()
    expect(order).toEqual([])
    await set({
      overrides: [
        { identity: 'b', block: true },
        { identity: 'd', exempt: true },
      ],
    })
    expect(order).toEqual(['b blocked', 'd'])
    await set({ limits: { all: { limit: 12 } } })
    expect(order).toEqual(['b blocked', 'd', 'a', 'c'])
    await set({ limits: { all: { limit: 13 } } })
    expect(order.at(-1)).toBe('a')
    await Promise.all(waits)
    await limiter.close()
  })

  test('a lowered limit makes those who wait wait longer', async () => {
    const { limiter, order, wait, set } = following()
    await limiter.charge('a', { cost: 2 })
    const waits = [wait('a', 'first', { cost: 2 }), wait('a', 'second')]
    await turn()
    await set({ limits: { tenant: { limit: 1 } } })
    expect(order).toEqual(['first store']) // its cost is above the limit now
    await jest.advanceTimersByTimeAsync(3_600_000)
    await Promise.all(waits)
    expect(order).toEqual(['first store', 'second'])
    await limiter.close()
  })
})

describe('async option functions', () => {
  const perSecond = tokenBucket({ capacity: 10, refill: 100, every: '1s' })

  test('those that take long slow down no other charge of the key', async () => {
    const limiter = createLimiter<string>({
      policy: perSecond,
      store: countingStore(),
      key: async () => {
        await new Promise((resolve) => setTimeout(resolve, 50))
        return 'ada'
      },
    })
    const startMs = Date.now()
    const waits = Array.from({ length: 110 }, () => limiter.waitFor('ada'))
    const all = Promise.all(waits)
    let isDone = false
    all.then(() => {
      isDone = true
    })
    for (let i = 0; i < 500 && !isDone; i++) await jest.advanceTimersByTimeAsync(10)
    expect(isDone).toBe(true)
    expect(Date.now() - startMs).toBeLessThan(2000) // 100 units take a second; one look-up after the other, five
  })

  test('one that hangs ends at `maxWait`, and the charges behind it go first', async () => {
    let calls = 0
    const key = (id: string) =>
      id === 'slow' && ++calls > 1 ? new Promise<string>((resolve) => setTimeout(resolve, 5000, 'k')) : 'k'
    const limiter = createLimiter<string>({
      policy: tokenBucket({ capacity: 1, refill: 20, every: '1s' }),
      store: countingStore(),
      key,
    })
    await limiter.charge('first')
    const ended: string[] = []
    for (const [id, maxWait] of [
      ['slow', '500ms'],
      ['next', '2s'],
      ['last', '2s'],
    ] as const)
      limiter.waitFor(id, { maxWait }).then(({ allowed }) => ended.push(`${id} ${allowed}`))
    await jest.advanceTimersByTimeAsync(400)
    expect(ended).toEqual(['next true', 'last true'])
    await jest.advanceTimersByTimeAsync(200)
    expect(ended).toEqual(['next true', 'last true', 'slow true']) // by the key that it had
  })
})
