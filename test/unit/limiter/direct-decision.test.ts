import {
  createLimiter,
  type Decision,
  identitiesOf,
  type LimiterOptions,
  memoryStore,
  type Policy,
  type Store,
  tokenBucket,
} from 'headgate'
import { customStore, type KeyedPolicy, type Operation } from 'headgate/store'
import { chargeStore, forgetStore } from '../../support/store-calls.js'

const START_MS = 1_790_000_000_000
const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
const key = ({ id }: { id: string }) => id

/** Creates a limiter of one limit in memory, and one whose limits are two, of which one never applies. */
function bothLimiters(options: Partial<LimiterOptions<{ id: string }>> = {}, maxKeys = 1000) {
  const clock = { nowMs: START_MS }
  const make = (limits: LimiterOptions<{ id: string }>) =>
    createLimiter({
      ...limits,
      ...options,
      name: 'api',
      store: memoryStore({ maxKeys, clock: () => clock.nowMs }),
    })
  const other = { name: 'other', policy, key, skip: () => true }
  return {
    clock,
    direct: make({ policy, key }),
    general: make({ limits: [{ name: 'api', policy, key }, other] }),
  }
}

test('a limiter of one limit decides as one that resolves several', async () => {
  const { clock, direct, general } = bothLimiters()
  for (let i = 0; i < 40; i++) {
    clock.nowMs += (i % 7) * 1000
    const subject = { id: `client-${i % 3}` }
    const cost = { cost: i % 4 }
    const decisions = await Promise.all([direct.charge(subject, cost), general.charge(subject, cost)])
    expect(decisions[0]).toEqual(decisions[1])
    if (i % 5 === 0)
      for (const limiter of [direct, general]) await limiter.refund(await limiter.charge(subject))
    if (i % 11 === 0) for (const limiter of [direct, general]) await limiter.forget(subject)
    expect(await direct.peek(subject)).toEqual(await general.peek(subject))
  }
})

test('a refund gives back what its charge took, whatever became of the public figures', async () => {
  const { direct, general } = bothLimiters()
  for (const limiter of [direct, general]) {
    await limiter.charge({ id: 'ada' }, { cost: 3 })
    const decision = await limiter.charge({ id: 'ada' })
    const parts = decision.parts as unknown as { cost: number }[]
    for (const part of parts) part.cost = 4
    parts.length = 0
    await limiter.refund(decision)
    expect((await limiter.peek({ id: 'ada' })).remaining).toBe(2)
  }
})

test('it identifies subjects as one that resolves several limits does, whatever its key returns', async () => {
  const values = ['ada', '=ada', '7', 7, 7n, -0, 'x'.repeat(64), 'x'.repeat(65), '日本', '10.0.0.1', '::1']
  const malformed = ['', 'a\0b', '\ud800', true, ['ada'], Number.NaN]
  for (const isAsync of [false, true]) {
    const key = ({ id }: { id: unknown }) => (isAsync ? Promise.resolve(id) : id)
    const entry = { name: 'api', policy, key }
    const store = memoryStore({ clock: () => START_MS })
    const direct = createLimiter<{ id: unknown }>({ policy, key, name: 'api', store })
    const other = { name: 'other', policy, key, skip: () => true }
    const general = createLimiter<{ id: unknown }>({ limits: [entry, other], name: 'general' })
    for (const id of [...values, ...malformed]) {
      const decisions = await Promise.all([direct.charge({ id }), general.charge({ id })])
      expect(identitiesOf(decisions[0])).toEqual(identitiesOf(decisions[1]))
      await direct.refund(decisions[0])
    }
    expect(store.size).toBe(0)
  }
})

test('its keys are the keys of the store', async () => {
  const store = memoryStore()
  const limiter = createLimiter<{ ip: string }>({ policy, name: 'api', store })
  await limiter.charge({ ip: '203.0.113.7' }, { cost: 2 })
  const stored = (identity: string, of: Policy = policy) => {
    const [verdict] = chargeStore(store, [[{ key: `hg:3:api:tb:{${identity}}`, policy: of, cost: 0 }]])
    return verdict?.parts[0]?.remaining
  }
  expect(stored('203.0.113.7')).toBe(3)
  expect(stored('203.0.113.8')).toBe(5)
  forgetStore(store, [{ key: 'hg:3:api:tb:{203.0.113.7}', policy }])
  expect((await limiter.peek({ ip: '203.0.113.7' })).remaining).toBe(5)
})

test('so are those of several limits, which are hashed in pieces', async () => {
  const store = memoryStore()
  const limits = ['first', 'second'].map((name) => ({ name, policy }))
  const limiter = createLimiter<{ ip: string }>({ limits, name: 'api', store })
  await limiter.charge({ ip: '203.0.113.7' })
  for (const { name } of limits) {
    const key = `hg:3:api/${name}:tb:{203.0.113.7}`
    expect(chargeStore(store, [[{ key, policy, cost: 0 }]])[0]?.parts[0]?.remaining).toBe(4)
  }
  await limiter.forget({ ip: '203.0.113.7' })
  expect(store.size).toBe(0)
})

test('a store around memory that changes the keys keeps them apart', async () => {
  const inner = memoryStore()
  const rename = <K extends KeyedPolicy>(keyed: K): K => ({ ...keyed, key: `mine:${keyed.key}` })
  const renamed = (operation: Operation): Operation =>
    operation.type === 'charge' ? { ...operation, parts: operation.parts.map(rename) } : rename(operation)
  const store: Store = customStore({
    name: 'renaming',
    apply: (operations) => inner.apply(operations.map(renamed)),
  })
  const limits = ['first', 'second'].map((name) => ({ name, policy }))
  const limiter = createLimiter<{ ip: string }>({ limits, name: 'api', store, denyCache: false })
  const client = { ip: '203.0.113.7' }
  const decisions = []
  for (let i = 0; i < 7; i++) decisions.push(await limiter.charge(client))
  expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, false, false])
  await limiter.refund(decisions[0] as Decision)
  expect((await limiter.charge(client)).allowed).toBe(true)
  await limiter.forget(client)
  expect((await limiter.charge(client)).remaining).toBe(4)
})

test('new keys share a bucket where the store is full of limited clients', async () => {
  const { direct } = bothLimiters({}, 2)
  for (const id of ['a', 'b']) await direct.charge({ id }, { cost: 5 })
  const remaining = []
  for (const id of ['c', 'd', 'e']) remaining.push((await direct.charge({ id })).remaining)
  expect(remaining).toEqual([4, 3, 2])
  expect((await direct.charge({ id: 'a' })).allowed).toBe(false)
})

test.each([(id?: string) => id === undefined, async (id?: string) => id === undefined])(
  'async keys and costs, and a limit that skips a subject',
  async (isMissing) => {
    const skip = ({ id }: { id?: string }) => isMissing(id)
    const key = async ({ id }: { id?: string }) => id
    const limits = [{ name: 'user', policy, key, cost: async () => 2, skip }]
    const limiter = createLimiter<{ id?: string }>({ limits })
    expect((await limiter.charge({ id: 'a' })).remaining).toBe(3)
    expect(await limiter.charge({})).toMatchObject({ allowed: true, source: 'none', parts: [] })
  },
)

test('a clock that fails is a failure of the store', async () => {
  const errors: unknown[] = []
  const store = memoryStore({ clock: () => Number.NaN })
  const make = (onStoreError: 'allow' | 'deny' | 'local') =>
    createLimiter({ policy, key, store, onStoreError, name: onStoreError })
  for (const [choice, source] of [
    ['allow', 'fail-open'],
    ['deny', 'fail-closed'],
    ['local', 'local'],
  ] as const) {
    const limiter = make(choice)
    limiter.events.on('storeError', (error) => errors.push(error))
    expect((await limiter.charge({ id: 'a' })).source).toBe(source)
  }
  expect(errors).toHaveLength(3)
  expect(String(errors[0])).toContain('clock must return milliseconds')
})

test('each function of a policy has a limit of its own', async () => {
  const small = tokenBucket({ capacity: 1, refill: 1, every: '1m' })
  const limiter = createLimiter<{ id: string; paid: boolean }>({
    policy: ({ paid }) => (paid ? policy : small),
    key: ({ id }) => id,
  })
  expect((await limiter.charge({ id: 'a', paid: true })).remaining).toBe(4)
  expect((await limiter.charge({ id: 'a', paid: false })).remaining).toBe(0)
  expect((await limiter.charge({ id: 'a', paid: true })).remaining).toBe(3)
})
