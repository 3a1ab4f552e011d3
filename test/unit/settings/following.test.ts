import {
  byIp,
  candidateLimits,
  createLimiter,
  type Decision,
  fixedWindow,
  type LimiterOptions,
  memoryStore,
  rateLimit,
  type SettingsDocument,
  type Store,
  StoreError,
  sharedSettings,
  slidingWindow,
} from 'headgate'
import { customStore, type Documents } from 'headgate/store'
import { chargeNow } from '../../support/charge-now.js'
import { until } from '../../support/servers/wait.js'

const ada = { by: 'ada', reason: 'a launch' }

interface Job {
  readonly tenant?: string | undefined
  readonly ip?: string
}

const byTenant = (job: Job) => job.tenant

/** A limiter that follows settings in memory, and what is emitted. */
function following(options: Partial<LimiterOptions<Job>> = {}, store: Store = memoryStore()) {
  const settings = sharedSettings(store)
  const policy = fixedWindow({ limit: 2, window: '1h' })
  const amount = options.limits || options.policy ? {} : { policy, key: byTenant }
  const limiter = createLimiter<Job>({ name: 'api', ...amount, store, settings, ...options })
  const events: unknown[][] = []
  limiter.events.on('settings', (applied) => events.push(['settings', applied]))
  limiter.events.on('settingsFailed', (error) => events.push(['settingsFailed', error.message]))
  limiters.push(limiter)
  return {
    limiter,
    settings,
    store,
    events,
    set: (document: Partial<SettingsDocument>) => settings.change('api', () => document, ada),
    charge: (tenant: string | undefined, ip = '192.0.2.1', cost = 1) =>
      chargeNow(limiter, { tenant, ip }, { cost }),
  }
}

const limiters: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(limiters.splice(0).map((limiter) => limiter.close()))
})

test('before there is a document, the code decides', () => {
  const { charge, limiter } = following()
  expect(charge('acme')).toMatchObject({ allowed: true, limit: 2, limitName: 'api' })
  expect(limiter.describe()).toEqual({
    name: 'api',
    mode: { value: 'enforce', from: 'code' },
    limits: [{ name: 'api', policy: { kind: 'fixed-window', limit: 2, windowMs: 3_600_000 }, from: 'code' }],
    allow: [],
    block: [],
    overrides: [],
  })
})

test('other numbers keep the policy of the code, and hold from the next charge on', async () => {
  const { charge, set, limiter, events } = following()
  await set({ limits: { api: { limit: 5 } } })
  expect(charge('acme')).toMatchObject({ limit: 5, parts: [{ windowMs: 3_600_000 }] })
  await set({ limits: { api: { window: '1m' } } })
  expect(charge('acme')).toMatchObject({ limit: 2, parts: [{ windowMs: 60_000 }] })
  await set({ limits: { api: { policy: 'slidingWindow', limit: 9, window: '1m' } } })
  expect(charge('acme')).toMatchObject({ limit: 9, parts: [{ windowMs: 60_000 }] })
  const { limits, settings } = limiter.describe()
  expect(limits).toEqual([
    {
      name: 'api',
      policy: { kind: 'sliding-window', limit: 9, windowMs: 60_000, slices: 10 },
      from: 'settings',
    },
  ])
  expect(settings).toEqual({ ...ada, version: expect.any(String), atMs: expect.any(Number) })
  expect(events.map(([name]) => name)).toEqual(['settings', 'settings', 'settings'])
  await set({})
  expect(charge('acme')).toMatchObject({ limit: 2 })
  expect(limiter.describe().limits[0]?.from).toBe('code')
})

test('an override sets other numbers for an identity, for a prefix and for a network', async () => {
  const { charge, set } = following()
  await set({
    overrides: [
      { identity: 'acme', limits: { api: { limit: 10 } } },
      { identityPrefix: 'trial-', limits: { api: { limit: 1 } } },
      { network: '203.0.113.0/24', limits: { api: { limit: 7 } } },
    ],
  })
  const limitFor = (tenant: string, ip?: string) => charge(tenant, ip).limit
  expect([limitFor('acme'), limitFor('acme', '203.0.113.9')]).toEqual([10, 10])
  expect([limitFor('trial-5'), limitFor('other', '203.0.113.9'), limitFor('other')]).toEqual([1, 7, 2])
})

test('an exempt identity is allowed and not counted, and a blocked one is denied for good', async () => {
  const { charge, set, limiter } = following()
  charge('acme')
  await set({
    overrides: [
      { identity: 'acme', exempt: true },
      { identity: 'mallory', block: true },
    ],
  })
  for (let i = 0; i < 5; i++)
    expect(charge('acme')).toMatchObject({ allowed: true, source: 'none', parts: [] })
  expect(charge('mallory')).toMatchObject({ allowed: false, source: 'blocked', retryAfterMs: Infinity })
  expect(await limiter.peek({ tenant: 'mallory' })).toMatchObject({ source: 'blocked' })
  expect(await limiter.waitFor({ tenant: 'acme' })).toMatchObject({ allowed: true, source: 'none' })
  expect(await limiter.waitFor({ tenant: 'mallory' })).toMatchObject({ allowed: false, source: 'blocked' })
  await set({})
  expect(charge('acme')).toMatchObject({ allowed: true, remaining: 0 })
  expect(charge('mallory')).toMatchObject({ allowed: true })
})

test('an override ends by itself', async () => {
  const { charge, set } = following()
  const nowMs = Date.now()
  await set({ overrides: [{ identity: 'acme', block: true, until: nowMs + 60_000 }] })
  expect(charge('acme').source).toBe('blocked')
  jest.spyOn(Date, 'now').mockReturnValue(nowMs + 60_000)
  expect(charge('acme').allowed).toBe(true)
  jest.restoreAllMocks()
})

test('adjustments act on the numbers of an override, also of one that exempts', async () => {
  const { charge, set, limiter } = following()
  await set({ overrides: [{ identity: 'acme', limits: { api: { limit: 10 } } }] })
  await limiter.penalize({ tenant: 'acme' }, 4)
  expect(charge('acme').remaining).toBe(5)
  await limiter.reward({ tenant: 'acme' }, 2)
  expect(charge('acme').remaining).toBe(6)
  await limiter.forget({ tenant: 'acme' })
  const decision = charge('acme')
  expect(decision.remaining).toBe(9)
  await limiter.refund(decision)
  expect(charge('acme').remaining).toBe(9)
  charge('other')
  await set({ overrides: [{ identity: 'other', exempt: true }] })
  await limiter.forget({ tenant: 'other' })
  await set({})
  expect(charge('other').remaining).toBe(1)
})

describe('several limits', () => {
  const limits = [
    { name: 'tenant', policy: fixedWindow({ limit: 2, window: '1h' }), key: byTenant },
    { name: 'address', policy: fixedWindow({ limit: 100, window: '1h' }), key: (job: Job) => job.ip },
  ]

  test('each is looked up by its own identity, and keeps what is not named', async () => {
    const { charge, set } = following({ limits })
    await set({
      limits: { address: { limit: 50 } },
      overrides: [{ identity: 'acme', limits: { tenant: { limit: 10 } } }],
    })
    expect(charge('acme').parts.map(({ name, limit }) => [name, limit])).toEqual([
      ['tenant', 10],
      ['address', 50],
    ])
    expect(charge('other').parts.map(({ limit }) => limit)).toEqual([2, 50])
  })

  test('an exempt identity of one exempts the subject, and a blocked one takes precedence', async () => {
    const { charge, set } = following({ limits })
    await set({
      overrides: [
        { identity: 'acme', exempt: true },
        { identity: '192.0.2.66', block: true },
      ],
    })
    expect(charge('acme').source).toBe('none')
    expect(charge('acme', '192.0.2.66').source).toBe('blocked')
    expect(charge('other', '192.0.2.66').source).toBe('blocked')
  })

  test('a network is blocked even if no limit applies', async () => {
    const { limiter, set } = following({ limits })
    await set({ overrides: [{ network: '203.0.113.0/24', block: true }] })
    const { source } = (await limiter.charge({ ip: '203.0.113.1' })) as Decision
    expect(source).toBe('blocked')
  })
})

test('an identity of several keys is an array, and a number is its digits', async () => {
  const key = [byTenant, () => 7]
  const { charge, set } = following({ policy: fixedWindow({ limit: 2, window: '1h' }), key })
  await set({ overrides: [{ identity: ['acme', '7'], limits: { api: { limit: 10 } } }] })
  expect(charge('acme').limit).toBe(10)
  expect(charge('other').limit).toBe(2)
})

test('async keys, policies and costs work with overrides, and each key is read once', async () => {
  let reads = 0
  const { limiter, set } = following({
    policy: (async () => fixedWindow({ limit: 2, window: '1h' })) as never,
    key: async (job: Job) => {
      reads++
      return job.tenant
    },
    cost: async () => 2,
  })
  await set({ overrides: [{ identity: 'acme', limits: { api: { limit: 10, window: '1h' } } }] })
  expect(await limiter.charge({ tenant: 'acme' })).toMatchObject({ limit: 10, remaining: 8 })
  expect(await limiter.charge({ tenant: 'other' })).toMatchObject({ limit: 2, remaining: 0 })
  expect(reads).toBe(2)
  expect((await limiter.charge({ tenant: 'acme' }, { cost: 1 })).remaining).toBe(7)
})

test('an override names an identity as its key returns it, although keys hold its hash', async () => {
  const store = memoryStore()
  const { apply } = store
  const remote: Store = customStore({
    name: 'remote',
    apply: async (operations) => apply(operations),
    documents: store.documents as Documents,
  })
  const { limiter, set } = following({ secret: 'a secret of the test' }, remote)
  await set({ overrides: [{ identity: 'acme', limits: { api: { limit: 10 } } }] })
  expect((await limiter.charge({ tenant: 'acme' })).limit).toBe(10)
})

describe('mode', () => {
  test('that of the document comes before that of the code', async () => {
    const { charge, set, limiter } = following()
    limiter.mode = 'report'
    await set({ mode: 'enforce', overrides: [{ identity: 'mallory', block: true }] })
    expect([limiter.mode, limiter.describe().mode.from]).toEqual(['enforce', 'settings'])
    expect(charge('mallory').allowed).toBe(false)
    await set({ overrides: [{ identity: 'mallory', block: true }] })
    expect([limiter.mode, limiter.describe().mode.from]).toEqual(['report', 'code'])
    expect(charge('mallory')).toMatchObject({ allowed: true, limit: 2 })
  })

  test('report mode ends waiting', async () => {
    const { charge, set, limiter } = following()
    charge('acme', undefined, 2)
    const waiting = limiter.waitFor({ tenant: 'acme' })
    await set({ mode: 'report' })
    expect((await waiting).allowed).toBe(true)
  })
})

describe('candidate', () => {
  test('a document has one beside the limits in force, whose figures begin anew with other numbers', async () => {
    const { charge, set, limiter } = following()
    expect(limiter.candidateReport()).toBeUndefined()
    await set({
      candidate: { limits: { api: { limit: 1 } } },
      overrides: [
        { identity: 'acme', limits: { api: { limit: 10 } } },
        { identity: 'x', block: true },
      ],
    })
    for (const tenant of ['acme', 'acme', 'acme', 'other', 'other', 'x']) charge(tenant)
    expect(limiter.candidateReport()).toMatchObject({ requests: 5, denied: 1, newlyDenied: 1 })
    expect(limiter.describe().candidate).toMatchObject([
      { name: 'api', policy: { limit: 1 }, from: 'settings' },
    ])
    await limiter.forget({ tenant: 'other' })
    charge('other')
    expect(limiter.candidateReport()).toMatchObject({ requests: 6, denied: 1 })
    await set({ candidate: { limits: { api: { limit: 5 } } } })
    expect(limiter.candidateReport()).toMatchObject({ requests: 0 })
    await set({})
    expect(limiter.candidateReport()).toBeUndefined()
    expect(limiter.describe()).not.toHaveProperty('candidate')
  })

  test('that of the code stays where the document has none', async () => {
    const { charge, set, limiter } = following({ candidate: candidateLimits({ limit: 1, window: '1h' }) })
    charge('acme')
    await set({ limits: { api: { limit: 5 } } })
    charge('acme')
    expect(limiter.candidateReport()).toMatchObject({ requests: 2, denied: 1 })
    expect(limiter.describe().candidate).toMatchObject([{ from: 'code' }])
  })
})

describe('a document that is not in force', () => {
  const warning = { allowed: true, limit: 5 }

  test('a text that is not one, once for each', async () => {
    jest.useFakeTimers()
    try {
      const { charge, store, set, events } = following()
      await set({ limits: { api: { limit: 5 } } })
      const documents = store.documents as Documents
      const [found] = await documents.read([{ key: 'hg:settings:api' }])
      await documents.replace(
        'hg:settings:api',
        '{"document":{"limits":{"api":{"limit":0}}}}',
        found?.version,
      )
      await jest.advanceTimersByTimeAsync(5000)
      expect(events.slice(1)).toEqual([
        ['settingsFailed', expect.stringContaining('settings: limits.api.limit must be a whole number')],
      ])
      expect(charge('acme')).toMatchObject(warning)
    } finally {
      jest.useRealTimers()
    }
  })

  test('the name of an unknown limit, while the rest is in force', async () => {
    const { charge, set, events } = following()
    await set({
      limits: { api: { limit: 5 }, apii: { limit: 1 } },
      overrides: [{ identity: 'acme', limits: { login: { limit: 1 } } }],
    })
    expect(events.at(-1)).toEqual([
      'settingsFailed',
      'settings: the document names limits that the limiter api does not have: apii, login. Its limits are: api.',
    ])
    expect(charge('acme')).toMatchObject(warning)
  })
})

describe('reads', () => {
  beforeEach(() => jest.useFakeTimers())
  afterEach(() => jest.useRealTimers())

  /** A store that counts its reads, and fails on demand. */
  function countingStore() {
    const store = memoryStore()
    const documents = store.documents as Documents
    const calls = { reads: [] as number[], failure: undefined as Error | undefined }
    const read: Documents['read'] = async (requests) => {
      calls.reads.push(requests.length)
      if (calls.failure) throw calls.failure
      return documents.read(requests)
    }
    return { calls, inner: store, store: { ...store, documents: { ...documents, read } } as Store }
  }

  test('all limiters on a store share one at the start, and then one a second', async () => {
    const { calls, store } = countingStore()
    following({ name: 'api' }, store)
    following({ name: 'login' }, store)
    await jest.advanceTimersByTimeAsync(0)
    expect(calls.reads).toEqual([2])
    following({ name: 'search' }, store)
    await jest.advanceTimersByTimeAsync(900)
    expect(calls.reads).toEqual([2])
    await jest.advanceTimersByTimeAsync(3100)
    expect(calls.reads).toEqual([2, 3, 3, 3, 3])
    await Promise.all(limiters.splice(0).map((limiter) => limiter.close()))
    await jest.advanceTimersByTimeAsync(5000)
    expect(calls.reads).toHaveLength(5)
  })

  test('a change of another process is followed within a second, and a late limiter starts with it', async () => {
    const { inner, store } = countingStore()
    const { charge } = following({}, store)
    await jest.advanceTimersByTimeAsync(10)
    await sharedSettings(inner).change('api', () => ({ limits: { api: { limit: 5 } } }), ada)
    expect(charge('acme').limit).toBe(2)
    await jest.advanceTimersByTimeAsync(1000)
    expect(charge('acme').limit).toBe(5)
    expect(following({}, store).charge('acme').limit).toBe(5)
  })

  test('while the store fails, the last document applies, and one event says so', async () => {
    const { calls, inner, store } = countingStore()
    const { charge, events, set } = following({}, store)
    await set({ limits: { api: { limit: 5 } } })
    calls.failure = new Error('connection refused')
    await jest.advanceTimersByTimeAsync(10_000)
    expect(charge('acme').limit).toBe(5)
    expect(events.slice(1)).toEqual([['settingsFailed', 'memory: connection refused']])
    calls.failure = undefined
    await sharedSettings(inner).change('api', () => ({ limits: { api: { limit: 6 } } }), ada)
    await jest.advanceTimersByTimeAsync(1000)
    expect(charge('acme').limit).toBe(6)
    calls.failure = new StoreError('memory', 'again')
    await jest.advanceTimersByTimeAsync(2000)
    expect(events.slice(3)).toEqual([['settingsFailed', 'memory: again']])
  })

  test('a document that is gone applies further', async () => {
    const { store } = countingStore()
    const read = jest.spyOn(store.documents as Documents, 'read')
    const { charge, events, set } = following({}, store)
    await set({ limits: { api: { limit: 5 } } })
    read.mockResolvedValue([undefined])
    await jest.advanceTimersByTimeAsync(5000)
    expect(charge('acme').limit).toBe(5)
    expect(events.slice(1)).toEqual([
      [
        'settingsFailed',
        expect.stringContaining('memory: the settings document is missing, so the last one'),
      ],
    ])
  })

  test('a read without a reply is given up after five seconds, and does not keep later ones back', async () => {
    const { store } = countingStore()
    const read = jest.spyOn(store.documents as Documents, 'read')
    const { charge, events } = following({}, store)
    await jest.advanceTimersByTimeAsync(0)
    read.mockImplementationOnce(() => new Promise(() => undefined))
    await jest.advanceTimersByTimeAsync(5500)
    expect(read).toHaveBeenCalledTimes(2)
    await sharedSettings(store).change('api', () => ({ limits: { api: { limit: 6 } } }), ada)
    await jest.advanceTimersByTimeAsync(2500)
    expect(events[0]).toEqual(['settings', expect.anything()])
    expect(charge('acme').limit).toBe(6)
  })
})

test.each([
  [{ settings: sharedSettings(memoryStore()), name: undefined }, 'name must be given with settings'],
  [
    { settings: {} },
    'settings must be what sharedSettings or settingsFile returns, got an object. Write settings: sharedSettings(store).',
  ],
  [
    { settings: memoryStore() },
    'settings must be what sharedSettings or settingsFile returns, got an object',
  ],
  [
    { limits: [{ name: 'a', limit: 5, window: '1m', settings: {} }] },
    'Write settings next to limits, not in it.',
  ],
])('wrong options are named', (options, problem) => {
  const limit = 'limits' in options ? {} : { limit: 5, window: '1m' }
  expect(() => createLimiter({ name: 'api', ...limit, ...options } as never)).toThrow(problem)
})

test('middleware follows settings', async () => {
  const store = memoryStore()
  const settings = sharedSettings(store)
  const { limiter } = rateLimit({
    name: 'api',
    policy: slidingWindow({ limit: 5, window: '1m' }),
    key: byIp(),
    settings,
  })
  await settings.change('api', () => ({ limits: { api: { limit: 9 } } }), ada)
  expect(limiter.describe().limits).toMatchObject([{ from: 'settings', policy: { limit: 9, slices: 10 } }])
  await limiter.close()
})

test('a limiter that was created under fake timers follows changes after they are restored', async () => {
  jest.useFakeTimers()
  const { set, charge, store } = following()
  await set({ limits: { api: { limit: 5 } } })
  jest.useRealTimers()
  await set({ limits: { api: { limit: 6 } } })
  const documents = { ...(store.documents as Documents) }
  const elsewhere = sharedSettings({ ...store, documents })
  await elsewhere.change('api', () => ({ limits: { api: { limit: 7 } } }), ada)
  await until('the limiter follows', () => charge('acme').limit === 7)
})
