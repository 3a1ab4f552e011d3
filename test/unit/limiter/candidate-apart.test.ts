import {
  candidateLimits,
  createLimiter,
  fixedWindow,
  type LimiterOptions,
  memoryStore,
  type Store,
  tokenBucket,
} from 'headgate'
import { customStore, keysOf, type Operation } from 'headgate/store'
import { type LocalStates, localStatesOf, setLocalStates } from '../../../src/stores/shared/local-states.js'
import { chargeNow } from '../../support/charge-now.js'
import { promisingStore } from '../../support/fault-stores.js'
import { recordWarnings } from '../../support/warnings.js'

const warnings = recordWarnings()
const key = (id: string) => id
const hourly = (limit: number) => fixedWindow({ limit, window: '1h' })
const frozen = () => memoryStore({ clock: () => Date.UTC(2026, 0, 5) })

const isOfCandidate = (operation: Operation) =>
  keysOf(operation).some(({ key }) => key.includes('/_candidate'))

/** A remote store that fails for the keys of candidates only, as where one shard is down. */
function failingForCandidates(): Store {
  const store = promisingStore()
  return customStore({
    ...store,
    apply(operations) {
      if (operations.some(isOfCandidate)) throw new Error('shard is down')
      return store.apply(operations)
    },
  })
}

test('a candidate whose keys fail never opens the circuit breaker of the limits in force', async () => {
  const states: string[] = []
  const limiter = createLimiter<string>({
    policy: hourly(2),
    key,
    store: failingForCandidates(),
    denyCache: false,
    candidate: candidateLimits({ policy: hourly(1), key: () => 'all' }),
  })
  limiter.events.on('candidateFailed', () => {})
  limiter.events.on('storeState', (state) => states.push(state))
  let admitted = 0
  for (let i = 0; i < 1000; i++) {
    const { allowed, source } = await limiter.charge(`client-${i % 10}`)
    if (allowed) admitted++
    expect(source).toBe('store')
  }
  expect(admitted).toBe(20)
  expect(states).toEqual([])
  expect(limiter.candidateReport()).toMatchObject({ requests: 0, failed: 1000 })
})

test('while the circuit breaker of the limits in force is open, adjustments still reach the candidate', async () => {
  const store = promisingStore()
  const applied: string[] = []
  const limiter = createLimiter<string>({
    policy: hourly(5),
    key,
    store: customStore({
      ...store,
      async apply(operations) {
        if (!operations.every(isOfCandidate)) throw new Error('shard is down')
        applied.push(...operations.map(({ type }) => type))
        return store.apply(operations)
      },
    }),
    candidate: candidateLimits({ policy: hourly(5) }),
  })
  limiter.events.on('storeError', () => {})
  for (let i = 0; i < 20; i++) await limiter.charge('b')
  applied.length = 0
  for (const change of [
    () => limiter.penalize('a', 2),
    () => limiter.reward('a', 1),
    () => limiter.forget('a'),
  ])
    await expect(async () => change()).rejects.toThrow('circuit breaker is open')
  expect(applied).toEqual(['take', 'reward', 'forget'])
})

test('in a full memory store, a candidate evicts no state of the limits in force', () => {
  const clock = () => Date.UTC(2026, 0, 5)
  const store = memoryStore({ maxKeys: 1000, clock })
  const bucket = (capacity: number) => tokenBucket({ capacity, refill: capacity, every: '1h' })
  const limiter = createLimiter<string>({
    policy: bucket(10),
    key,
    store,
    candidate: candidateLimits({ policy: bucket(2) }),
  })
  let admitted = 0
  for (let round = 0; round < 15; round++)
    for (let i = 0; i < 900; i++) if (chargeNow(limiter, `client-${i}`).allowed) admitted++
  expect(admitted).toBe(9000)
  expect(store.size).toBe(900)
  expect(limiter.candidateReport()).toMatchObject({ denied: 900 * 13, clients: 900, deniedClients: 900 })
})

test('forget, refund and penalize work where only the functions of the candidate fail', async () => {
  const failures: unknown[] = []
  const limiter = createLimiter<{ body?: { name: string }; token?: { id: string } }>({
    policy: hourly(1),
    key: ({ body }) => body?.name,
    store: frozen(),
    candidate: candidateLimits({ policy: hourly(1), key: ({ token }) => (token as { id: string }).id }),
  })
  limiter.events.on('candidateFailed', (error) => failures.push(error))
  const ada = { body: { name: 'ada' }, token: { id: 'a' } }
  await limiter.charge(ada)
  await limiter.forget({ body: { name: 'ada' } })
  expect(await limiter.charge(ada)).toMatchObject({ allowed: true })
  await limiter.penalize({ body: { name: 'grace' } }, 1)
  expect(await limiter.charge({ body: { name: 'grace' }, token: { id: 'g' } })).toMatchObject({
    allowed: false,
  })
  expect(failures).toEqual([expect.any(TypeError), expect.any(TypeError)])
})

test('an error in a function of the candidate is reported once as a process warning', async () => {
  const limiter = createLimiter<string>({
    policy: hourly(5),
    key,
    candidate: candidateLimits({
      policy: hourly(5),
      key: () => {
        throw new TypeError('bug in my key')
      },
    }),
  })
  await limiter.charge('a')
  await limiter.charge('a')
  expect(warnings()).toEqual(['HEADGATE_CANDIDATE_FAILED'])
  expect(limiter.candidateReport()).toMatchObject({ failed: 2 })
})

const REFUNDED: readonly [what: string, options: Partial<LimiterOptions<string>>][] = [
  ['that report mode returns in place of a denial', { policy: hourly(1), mode: 'report' }],
  ['on which no limit in force applied', { limits: [{ policy: hourly(9), key, skip: () => true }] }],
]

test.each(REFUNDED)('the refund of a decision %s reaches the candidate', async (_what, options) => {
  const limiter = createLimiter<string>({
    ...(options.limits === undefined && { policy: hourly(9), key }),
    store: frozen(),
    candidate: candidateLimits({ limits: [{ policy: hourly(3), key, skip: () => false }] }),
    ...options,
  })
  for (let i = 0; i < 7; i++) await limiter.refund(await limiter.charge('a'))
  expect(limiter.candidateReport()).toMatchObject({ requests: 7, denied: 0 })
})

test('penalize and reward apply to the candidate, too', async () => {
  const limiter = createLimiter<string>({
    policy: hourly(9),
    key,
    store: frozen(),
    candidate: candidateLimits({ policy: hourly(3) }),
  })
  await limiter.penalize('a', 3)
  await limiter.charge('a')
  await limiter.reward('a', 2)
  await limiter.charge('a')
  expect(limiter.candidateReport()).toMatchObject({ requests: 2, denied: 1 })
})

test('a denial that only a failed store caused is not newly allowed', async () => {
  const store = promisingStore()
  const limiter = createLimiter<string>({
    policy: hourly(5),
    key,
    store: customStore({
      ...store,
      apply(operations) {
        if (!operations.every(isOfCandidate)) throw new Error('shard is down')
        return store.apply(operations)
      },
    }),
    onStoreError: 'deny',
    candidate: candidateLimits({ policy: hourly(5) }),
  })
  limiter.events.on('storeError', () => {})
  expect(await limiter.charge('a')).toMatchObject({ allowed: false, source: 'fail-closed' })
  await new Promise(setImmediate) // the candidate's charge was sent after that of the limits in force
  expect(limiter.candidateReport()).toMatchObject({ requests: 1, newlyAllowed: 0 })
})

test('a client that is denied very often is listed, however many others were denied before', async () => {
  const limiter = createLimiter<string>({
    policy: hourly(9999),
    key,
    store: frozen(),
    candidate: candidateLimits({ policy: hourly(1), cost: 2 }),
  })
  for (let i = 0; i < 12_000; i++) await limiter.charge(`client-${i}`)
  for (let i = 0; i < 500; i++) await limiter.charge('heavy')
  const [limit] = limiter.candidateReport()?.limits ?? []
  expect(limit).toMatchObject({ denied: 12_500, deniedClients: expect.any(Number) })
  expect(limit?.deniedClients).toBeGreaterThan(0.9 * 12_001) // an estimate, with a standard error of 3%
  expect(limit?.deniedClients).toBeLessThan(1.1 * 12_001)
  expect(limit?.mostDenied[0]?.denied).toBeGreaterThanOrEqual(480)
})

test('a policy function that returns ever new names fills the report with 64 of them', async () => {
  let made = 0
  const limiter = createLimiter<string>({
    policy: hourly(9999),
    key,
    candidate: candidateLimits({
      policy: () => fixedWindow({ limit: 1, window: '1h', name: `plan-${made++}` }),
      cost: 2,
    }),
  })
  for (let i = 0; i < 200; i++) await limiter.charge('a')
  const { limits = [] } = limiter.candidateReport() ?? {}
  expect(limits).toHaveLength(65)
  expect(limits.at(-1)).toMatchObject({ name: '_other', denied: 136 })
})

test('a candidate that could not refund calls the store no more once the limiter is closed', async () => {
  jest.useFakeTimers()
  const server = promisingStore()
  let isDown = false
  let calls = 0
  const store: Store = customStore({
    ...server,
    apply(operations) {
      calls++
      if (isDown) throw new Error('connection lost')
      return server.apply(operations)
    },
  })
  const limiter = createLimiter<string>({
    policy: hourly(9),
    key,
    store,
    candidate: candidateLimits({ policy: hourly(9) }),
  })
  const lost: unknown[] = []
  for (const event of ['storeError', 'refundFailed'] as const) limiter.events.on(event, () => {})
  const decision = await limiter.charge('ada')
  isDown = true
  for (let i = 0; i < 50; i++) await limiter.charge('bob')
  limiter.events.on('candidateFailed', (error) => lost.push(error))
  await limiter.refund(decision)
  await limiter.close()
  calls = 0
  await jest.advanceTimersByTimeAsync(60_000)
  expect(calls).toBe(0)
  expect(lost).toMatchObject([{ message: expect.stringContaining('a refund was never sent') }])
  jest.useRealTimers()
})

test('a candidate whose own store fails to close leaves the store of the limits in force closed', async () => {
  const memory = memoryStore()
  const closed: string[] = []
  const sibling = { ...memoryStore(), close: () => Promise.reject(new Error('busy')) }
  const apply: Store['apply'] = (operations) => memory.apply(operations)
  const local = localStatesOf(memory) as LocalStates
  setLocalStates(apply, { ...local, createSibling: () => sibling })
  const close = async () => void closed.push('in force')
  const store: Store = customStore({ ...memory, apply, close })
  const limiter = createLimiter<string>({
    policy: hourly(9),
    key,
    store,
    candidate: candidateLimits({ policy: hourly(1) }),
  })
  limiter.events.on('candidateFailed', (error) => closed.push(String(error)))
  await limiter.close()
  expect(closed).toEqual(['Error: busy', 'in force'])
})
