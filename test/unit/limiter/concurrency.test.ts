import {
  concurrency,
  createLimiter,
  type Decision,
  type Limiter,
  type LimiterOptions,
  memoryStore,
  type Store,
  StoreError,
  sharedSettings,
  tokenBucket,
} from 'headgate'
import { customStore, type Operation, type Refund, type Renew } from 'headgate/store'
import { recordWarnings } from '../../support/warnings.js'

const TTL_MS = 8000
const three = concurrency({ limit: 3, ttl: TTL_MS })
const bucket = tokenBucket({ capacity: 5, refill: 5, every: '1d' })
const key = () => 'all'

const warnings = recordWarnings()
beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  expect(warnings()).toEqual([])
  jest.useRealTimers()
})

/** A store of another server, which may be down. */
function remoteStore() {
  const memory = memoryStore({ clock: Date.now })
  const store = customStore({
    ...memory,
    name: 'remote',
    isDown: false,
    renewals: [] as Renew[],
    refunds: [] as Refund[],
    async apply(operations: readonly Operation[]) {
      store.renewals.push(...operations.filter((each) => each.type === 'renew'))
      if (store.isDown) throw new Error('gone')
      store.refunds.push(...operations.filter((each) => each.type === 'refund'))
      return memory.apply(operations)
    },
  })
  return store
}

const STORES: readonly (readonly [string, () => Store])[] = [
  ['memory', () => memoryStore({ clock: Date.now })],
  ['a remote store', remoteStore],
]

function limiterOn(store: Store, options: Partial<LimiterOptions<unknown>> = {}): Limiter<unknown> {
  return createLimiter({ store, policy: three, key, ...options })
}

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

const chargeAll = (limiter: Limiter<unknown>, count: number) =>
  Promise.all(Array.from({ length: count }, async () => limiter.charge('any')))

/** How many timers run that are no time-outs of calls. */
async function timersLeft(): Promise<number> {
  await jest.advanceTimersByTimeAsync(200)
  return jest.getTimerCount()
}

const freeIn = async (limiter: Limiter<unknown>) => (await limiter.peek('any')).remaining

describe.each(STORES)('in %s', (_name, makeStore) => {
  test('a decision holds its units until it is released, once', async () => {
    const limiter = limiterOn(makeStore())
    const decisions = await chargeAll(limiter, 5)
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false])
    const [first, , , denied] = decisions as [Decision, Decision, Decision, Decision]
    await limiter.release(denied)
    await limiter.release({ ...first })
    expect(await freeIn(limiter)).toBe(0)
    await limiter.release(first)
    await limiter.release(first)
    expect(await freeIn(limiter)).toBe(1)
    await limiter.close()
  })

  test('its figures promise no time, and a denial is for a second', async () => {
    const limiter = limiterOn(makeStore())
    expect(await limiter.peek('any')).toMatchObject({ remaining: 3, resetAfterMs: 0, moreAfterMs: 0 })
    await limiter.charge('any', { cost: 3 })
    const never = Number.POSITIVE_INFINITY
    const figures = { remaining: 0, resetAfterMs: never, moreAfterMs: never, retryAfterMs: 1000 }
    const denial = await limiter.charge('any')
    expect(denial).toMatchObject({ ...figures, allowed: false, limitName: '3-at-once' })
    expect(denial.parts).toMatchObject([{ windowMs: never, quotaUnit: 'concurrent-requests' }])
    expect(await limiter.charge('any', { cost: 4 })).toMatchObject({ retryAfterMs: never })
    await limiter.close()
  })

  test('what is held is renewed for as long as it takes, and released from its new place', async () => {
    const limiter = limiterOn(makeStore())
    const decision = await limiter.charge('any', { cost: 2 })
    for (let i = 0; i < 40; i++) {
      await jest.advanceTimersByTimeAsync(TTL_MS / 8)
      expect(await freeIn(limiter)).toBe(1)
    }
    await limiter.release(decision)
    expect(await freeIn(limiter)).toBe(3)
    await limiter.close()
  })

  test('the timer stops once nothing is held, and starts again', async () => {
    const limiter = limiterOn(makeStore())
    for (let i = 0; i < 2; i++) {
      const decision = await limiter.charge('any')
      expect(await timersLeft()).toBe(1)
      await limiter.release(decision)
      await jest.advanceTimersByTimeAsync(TTL_MS / 8)
      expect(await timersLeft()).toBe(0)
    }
  })

  test('a refund leaves what is held, and a release what else was taken', async () => {
    const limiter = limiterOn(makeStore(), {
      policy: undefined as never,
      key: undefined as never,
      limits: [
        { policy: three, key },
        { name: 'tokens', policy: bucket, key },
      ],
    })
    const left = async () => (await limiter.peek('any')).parts.map(({ remaining }) => remaining)
    const [refunded, released] = (await chargeAll(limiter, 2)) as [Decision, Decision]
    await limiter.refund(refunded)
    await limiter.refund(refunded, { limits: ['3-at-once'] })
    await limiter.release(released)
    expect(await left()).toEqual([2, 4])
    await limiter.release(refunded)
    expect(await left()).toEqual([3, 4])
    await limiter.close()
  })

  test('adjustments leave what is held', async () => {
    const limits = [
      { policy: three, key },
      { name: 'tokens', policy: bucket, key },
    ]
    const limiter = createLimiter<unknown>({ store: makeStore(), limits })
    const left = async () => (await limiter.peek('any')).parts.map(({ remaining }) => remaining)
    const decision = await limiter.charge('any')
    await limiter.adjust(decision, 3)
    expect(await left()).toEqual([2, 2])
    await limiter.penalize('any', 1)
    expect(await left()).toEqual([2, 1])
    await limiter.reward('any', 4)
    expect(await left()).toEqual([2, 5])
    await limiter.refund(decision)
    await limiter.release(decision)
    expect(await left()).toEqual([3, 5])
    await limiter.close()
  })

  test('waitFor takes what is released at once, and gives it back if it is aborted', async () => {
    const limiter = limiterOn(makeStore())
    const held = await limiter.charge('any', { cost: 3 })
    const { signal, abort } = abortable()
    const aborted = limiter.waitFor('any', { cost: 2, signal }).catch((reason: Error) => reason.name)
    const waiting = limiter.waitFor('any', { maxWait: 5000 })
    await jest.advanceTimersByTimeAsync(1)
    abort()
    expect(await aborted).toBe('AbortError')
    await limiter.release(held)
    const decision = await waiting
    expect(decision).toMatchObject({ allowed: true, remaining: 2 })
    await limiter.release(decision)
    expect(await freeIn(limiter)).toBe(3)
    await limiter.close()
  })

  test('a denial by another limit holds nothing', async () => {
    const limits = [
      { policy: three, key },
      { policy: bucket, key, cost: 6 },
    ]
    const limiter = createLimiter({ store: makeStore(), limits })
    const denial = await limiter.charge('any')
    expect(denial.parts.map(({ allowed }) => allowed)).toEqual([true, false])
    await limiter.release(denial)
    expect((await limiter.peek('any')).parts[0]).toMatchObject({ remaining: 3 })
    expect(await timersLeft()).toBe(0)
  })

  test('a peek and a cost of 0 hold nothing', async () => {
    const limiter = limiterOn(makeStore())
    await limiter.peek('any')
    await limiter.charge('any', { cost: 0 })
    expect(await timersLeft()).toBe(0)
  })

  test('close releases what is held, and a later release changes nothing', async () => {
    const store = makeStore()
    const limiter = limiterOn(store, { name: 'one' })
    const other = limiterOn(store, { name: 'one' })
    const [decision] = (await chargeAll(limiter, 2)) as [Decision, Decision]
    await other.charge('any')
    await limiter.close()
    expect(await freeIn(other)).toBe(2)
    await limiter.release(decision)
    expect(await freeIn(other)).toBe(2)
    await other.close()
    expect(await timersLeft()).toBe(0)
  })

  test('forget frees units, and renewals count those of requests that go on', async () => {
    const limiter = limiterOn(makeStore())
    const decision = await limiter.charge('any', { cost: 2 })
    await limiter.forget('any')
    expect(await freeIn(limiter)).toBe(3)
    await jest.advanceTimersByTimeAsync(TTL_MS / 2)
    expect(await freeIn(limiter)).toBe(1)
    await limiter.release(decision)
    expect(await freeIn(limiter)).toBe(3)
    await limiter.close()
  })

  test('a policy function may return it', async () => {
    const limiter = limiterOn(makeStore(), { policy: () => three })
    const decision = await limiter.charge('any')
    expect(await freeIn(limiter)).toBe(2)
    await limiter.release(decision)
    expect(await freeIn(limiter)).toBe(3)
    await limiter.close()
  })
})

test('units of one key and slice are renewed together', async () => {
  const store = remoteStore()
  const limiter = limiterOn(store, { policy: concurrency({ limit: 50, ttl: TTL_MS }) })
  const decisions = await chargeAll(limiter, 40)
  await jest.advanceTimersByTimeAsync(TTL_MS / 8)
  expect(store.renewals.map(({ cost }) => cost)).toEqual([40])
  for (const decision of decisions) await limiter.release(decision)
  expect(await freeIn(limiter)).toBe(50)
  await limiter.close()
})

test('a release during a renewal waits for it, to release from the new place', async () => {
  const store = remoteStore()
  const limiter = limiterOn(store)
  const decision = await limiter.charge('any')
  const { apply } = store
  let goOn: () => void = () => undefined
  store.apply = async (operations) => {
    if (operations.some(({ type }) => type === 'renew'))
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
    return apply(operations)
  }
  await jest.advanceTimersByTimeAsync(TTL_MS / 8)
  const released = limiter.release(decision)
  await Promise.resolve()
  expect(store.refunds).toEqual([])
  goOn()
  await released
  expect(store.refunds).toHaveLength(1)
  expect(await freeIn(limiter)).toBe(3)
  await limiter.close()
})

test('a renewal that fails is reported, and tried again until it succeeds', async () => {
  const store = remoteStore()
  const limiter = limiterOn(store)
  const failures: StoreError[] = []
  limiter.events.on('renewalFailed', (error) => failures.push(error))
  await limiter.charge('any', { cost: 2 })
  store.isDown = true
  await jest.advanceTimersByTimeAsync(TTL_MS / 4)
  expect(store.renewals).toHaveLength(3)
  expect(failures).toHaveLength(3)
  expect(failures[0]).toBeInstanceOf(StoreError)
  store.isDown = false
  await jest.advanceTimersByTimeAsync(TTL_MS * 2)
  expect(failures).toHaveLength(3)
  expect(await freeIn(limiter)).toBe(1)
  await limiter.close()
})

test('units are renewed where timers are numbers, as on Workers', async () => {
  const { setInterval } = globalThis
  const asNumber = (...args: Parameters<typeof setInterval>) => Number(setInterval(...args))
  const mocked = jest.spyOn(globalThis, 'setInterval').mockImplementation(asNumber as never)
  try {
    const limiter = limiterOn(memoryStore({ clock: Date.now }))
    const decision = await limiter.charge('any')
    await jest.advanceTimersByTimeAsync(TTL_MS * 2)
    expect(await freeIn(limiter)).toBe(2)
    await limiter.release(decision)
    await jest.advanceTimersByTimeAsync(TTL_MS)
    expect(await timersLeft()).toBe(0)
  } finally {
    mocked.mockRestore()
  }
})

test('a release of unknown outcome is not repeated, and its units are free after the ttl', async () => {
  const store = remoteStore()
  const limiter = limiterOn(store)
  const decision = await limiter.charge('any', { cost: 2 })
  store.isDown = true
  const failures: unknown[] = []
  limiter.events.on('refundFailed', (error) => failures.push(error))
  await limiter.release(decision)
  expect(failures).toEqual([expect.any(StoreError)])
  store.isDown = false
  await limiter.release(decision)
  expect(await freeIn(limiter)).toBe(1)
  await jest.advanceTimersByTimeAsync(TTL_MS * (9 / 8))
  expect(await freeIn(limiter)).toBe(3)
  expect(store.renewals).toEqual([])
  await limiter.close()
})

test('the local fallback holds, renews and releases what it decided', async () => {
  const store = remoteStore()
  const limiter = limiterOn(store, { onStoreError: 'local', fallbackShare: 0.7 })
  limiter.events.on('storeError', () => undefined)
  store.isDown = true
  const decisions = await chargeAll(limiter, 3)
  expect(decisions.map(({ allowed, source }) => [allowed, source])).toEqual([
    [true, 'local'],
    [true, 'local'],
    [false, 'local'],
  ])
  await jest.advanceTimersByTimeAsync(TTL_MS / 2)
  expect(store.renewals).toEqual([])
  await limiter.release(decisions[0] as Decision)
  expect((await limiter.charge('any')).allowed).toBe(true)
  await limiter.close()
})

test('a decision without the store holds nothing', async () => {
  const store = remoteStore()
  const limiter = limiterOn(store, { onStoreError: 'allow' })
  limiter.events.on('storeError', () => undefined)
  store.isDown = true
  const decision = await limiter.charge('any')
  expect(decision).toMatchObject({ allowed: true, source: 'fail-open' })
  await limiter.release(decision)
  expect(await timersLeft()).toBe(0)
})

test('waitFor releases what a charge took that is allowed after the abort', async () => {
  const store = remoteStore()
  const limiter = limiterOn(store)
  const { signal, abort } = abortable()
  const waiting = limiter.waitFor('any', { signal })
  abort()
  await expect(waiting).rejects.toThrow('aborted')
  expect(store.refunds).toHaveLength(1)
  expect(await freeIn(limiter)).toBe(3)
  await limiter.close()
})

test.each([
  ['other numbers', { limit: 1 }, () => three],
  ['another policy', { policy: 'concurrency', limit: 1, ttl: '8s' }, three],
] as const)('a limit to which settings give %s releases what it holds', async (_what, changed, policy) => {
  const store = memoryStore({ clock: Date.now })
  const settings = sharedSettings(store)
  const limiter = limiterOn(store, { name: 'all', settings, policy })
  await settings.change('all', { limits: { all: changed } }, { by: 'ada', reason: 'a test' })
  for (let i = 0; i < 3; i++) {
    const decision = await limiter.charge({})
    expect(decision).toMatchObject({ allowed: true, limit: 1 })
    await limiter.release(decision)
  }
  await limiter.close()
})

test('a policy that holds units must be made by concurrency, as a copy of one is', async () => {
  const fields = Object.fromEntries(Object.entries(three)) as unknown as typeof three
  expect(() => limiterOn(memoryStore(), { policy: fields })).toThrow(
    /^createLimiter: policy must be made by concurrency if it holds units, got .*\. Write policy: \{ \.\.\.concurrency/,
  )
  const limiter = limiterOn(memoryStore(), { policy: { ...three, name: 'copied' } })
  const held = await limiter.charge('any', { cost: 3 })
  await limiter.release(held)
  expect(await limiter.charge('any')).toMatchObject({ allowed: true, remaining: 2 })
  await limiter.close()
})

test('a denial is never cached', async () => {
  const store = remoteStore()
  const limiter = limiterOn(store, { denyCache: '1m' })
  const held = await limiter.charge('any', { cost: 3 })
  for (let i = 0; i < 2; i++)
    expect(await limiter.charge('any')).toMatchObject({ allowed: false, source: 'store' })
  await limiter.release(held)
  expect((await limiter.charge('any')).allowed).toBe(true)
  await limiter.close()
})
