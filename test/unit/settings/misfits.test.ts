import {
  byIp,
  concurrency,
  createLimiter,
  fixedWindow,
  type LimiterOptions,
  memoryStore,
  type Policy,
  type SettingsDocument,
  type Store,
  sharedSettings,
  slidingLog,
  slidingWindow,
} from 'headgate'
import { chargeNow } from '../../support/charge-now.js'

const ada = { by: 'ada', reason: 'a test' }
const TOO_MANY = 'limits.api.limit must be a whole number from 1 to 1,000, got 2000'
const log = slidingLog({ limit: 100, window: '1h' })

jest.setTimeout(5000)

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()))
})

interface Job {
  readonly id: string
  readonly ip?: string
}

/** A limiter in a process of its own, which follows the document of a store. */
function processOn(store: Store, options: Partial<LimiterOptions<Job>> = {}) {
  const { documents, ...others } = store
  const own = { ...others, documents: { ...documents } } as Store // as another process has another client
  const settings = sharedSettings(own)
  const limiter = createLimiter<Job>({
    name: 'api',
    ...(!options.limits && { policy: log, key: ({ id }: Job) => id }),
    store: own,
    settings,
    ...options,
  })
  closing.push(() => limiter.close())
  const failures: string[] = []
  limiter.events.on('settingsFailed', ({ message }) => failures.push(message))
  return {
    limiter,
    failures,
    charge: (id: string, ip = '192.0.2.1') => chargeNow(limiter, { id, ip }),
    change: (edit: (document: SettingsDocument) => Partial<SettingsDocument>) =>
      settings.change('api', edit, ada),
    applied: () => new Promise<unknown>((resolve) => limiter.events.once('settings', resolve)),
  }
}

/** A change that a process makes whose limits differ, as in a rolling deployment. */
function changeElsewhere(store: Store, document: Partial<SettingsDocument>) {
  const { documents } = store
  return sharedSettings({ ...store, documents: { ...documents } } as Store).change('api', () => document, ada)
}

const blocked = (identity: string) => ({ identity, block: true as const })

/** What a document has, each of which does not fit a limiter. */
const MISFITS: Readonly<
  Record<string, readonly [document: Partial<SettingsDocument>, problem: string, policy?: Policy]>
> = {
  'a limit that is too large': [{ limits: { api: { limit: 2000 } } }, TOO_MANY],
  'a limit in a candidate': [{ candidate: { limits: { api: { limit: 2000 } } } }, `candidate.${TOO_MANY}`],
  'a limit in an override': [
    { overrides: [{ identity: 'acme', limits: { api: { limit: 2000 } } }] },
    `overrides[0].${TOO_MANY}`,
  ],
  'a window that is too short': [
    { limits: { api: { window: '2ms' } } },
    'limits.api',
    slidingWindow({ limit: 5, window: '1h' }),
  ],
  'a window for a policy that has none': [
    { limits: { api: { window: '1m' } } },
    'limits.api.window must be left out',
    concurrency({ limit: 2 }),
  ],
  concurrency: [
    { limits: { api: { policy: 'concurrency', limit: 5 } } },
    'limits.api.policy must be a policy other than concurrency',
  ],
  'a candidate for concurrency': [
    { candidate: { limits: { api: { limit: 5 } } } },
    'candidate.limits.api',
    concurrency({ limit: 2 }),
  ],
}

describe.each(Object.entries(MISFITS))('%s', (_, [document, problem, policy = log]) => {
  const { overrides = [], ...rest } = document
  const whole = { ...rest, overrides: [...overrides, blocked('mallory'), { identity: 'vip', exempt: true }] }

  test('is skipped and reported, and the rest of the document applies', async () => {
    const store = memoryStore()
    await changeElsewhere(store, whole as SettingsDocument)
    const { limiter, charge, failures, applied } = processOn(store, { policy })
    await applied()
    expect(charge('mallory').source).toBe('blocked')
    expect(charge('vip').source).toBe('none')
    expect(charge('acme')).toMatchObject({ limit: policy.limit, allowed: true })
    expect(failures).toEqual([expect.stringContaining(`settings: ${problem}`)])
    expect(failures[0]).toMatch(/The limiter api skips it and applies the rest of the document\.$/)
    expect(limiter.describe()).toMatchObject({ limits: [{ policy: policy.spec, from: 'code' }] })
  })

  test('rejects a change in a process whose limiter it does not fit, and changes nothing', async () => {
    const { change, charge, failures, applied } = processOn(memoryStore(), { policy })
    await change(() => ({ overrides: [blocked('mallory')] }))
    await expect(change(() => whole as SettingsDocument)).rejects.toThrow(`settings: ${problem}`)
    await expect(change(() => whole as SettingsDocument)).rejects.toThrow(TypeError)
    expect(charge('vip').source).toBe('store')
    const next = applied()
    await change((now) => ({ ...now, overrides: [...now.overrides, blocked('eve')] }))
    await next
    expect([charge('mallory').source, charge('eve').source]).toEqual(['blocked', 'blocked'])
    expect(failures).toEqual([])
  })

  test('does not stop other changes once it is in the document', async () => {
    const store = memoryStore()
    await changeElsewhere(store, whole as SettingsDocument)
    const { change, charge, applied } = processOn(store, { policy })
    await applied()
    const eve = blocked('eve')
    await change((now) => ({ ...now, mode: 'enforce', overrides: [eve, ...now.overrides] }))
    expect(charge('eve').source).toBe('blocked')
    expect(charge('mallory').source).toBe('blocked')
  })
})

test('of several limits, those that fit apply, and describe shows where each comes from', async () => {
  const store = memoryStore()
  const limits = [
    { name: 'tenant', policy: log, key: ({ id }: Job) => id },
    { name: 'total', policy: fixedWindow({ limit: 9, window: '1h' }), key: () => 'all' },
  ]
  await changeElsewhere(store, { limits: { tenant: { limit: 2000 }, total: { limit: 7 } } })
  const { limiter, charge, applied } = processOn(store, { limits })
  await applied()
  expect(charge('acme').parts.map(({ limit }) => limit)).toEqual([100, 7])
  expect(limiter.describe().limits.map(({ from }) => from)).toEqual(['code', 'settings'])
})

test('a candidate leaves out the limits of concurrency, which it cannot hold', async () => {
  const store = memoryStore()
  const limits = [
    { name: 'open', policy: concurrency({ limit: 3 }), key: ({ id }: Job) => id },
    { name: 'total', policy: fixedWindow({ limit: 9, window: '1h' }), key: () => 'all' },
  ]
  const { limiter, change, charge, failures } = processOn(store, { limits })
  await change(() => ({ candidate: { limits: { total: { limit: 1 } } } }))
  for (let i = 0; i < 3; i++) charge('acme')
  expect(limiter.candidateReport()).toMatchObject({ requests: 3, denied: 2 })
  expect(limiter.describe().candidate).toMatchObject([{ name: 'total', policy: { limit: 1 } }])
  expect(failures).toEqual([])
})

test('a network that counts as IPv4 addresses is skipped, and the other blocks apply', async () => {
  const store = memoryStore()
  const inside = (bits: number) => ({ network: `2001:db8:64::/${bits}`, block: true as const })
  await changeElsewhere(store, { overrides: [inside(96), blocked('mallory')] })
  const key = [({ id }: Job) => id, byIp({ nat64: ['2001:db8:64::/96'] })]
  const limits = [
    { name: 'tenant', policy: log, key: ({ id }: Job) => id },
    { name: 'both', policy: log, key: key as never, skip: () => true },
  ]
  const { charge, failures, applied, change } = processOn(store, { limits })
  await applied()
  const problem = (bits: number) =>
    `settings: overrides[0].network must be an IP address or a CIDR range, got "2001:db8:64::/${bits}". Addresses in`
  expect(failures).toEqual([expect.stringContaining(problem(96))])
  await expect(change(() => ({ overrides: [inside(90)] }))).rejects.toThrow(problem(90))
  await change((now) => ({ overrides: [...now.overrides, blocked('eve')] }))
  expect((await charge('mallory')).source).toBe('blocked')
  expect((await charge('eve')).source).toBe('blocked')
})

test('the first ten of many are listed, and the rest counted', async () => {
  const store = memoryStore()
  const many = Array.from({ length: 25 }, (_, i) => ({
    identity: `a${i}`,
    limits: { api: { limit: 2000 } },
  }))
  await changeElsewhere(store, { overrides: [...many, blocked('mallory')] })
  const { charge, failures, applied } = processOn(store)
  await applied()
  expect(charge('mallory').source).toBe('blocked')
  const [first = '', ...lines] = (failures[0] ?? '').split('\n')
  expect(first).toBe('settings: the limiter api skips 25 parts of its document and applies the rest:')
  expect([lines.length, lines.at(-1)]).toEqual([11, '- 15 more'])
  expect(lines[9]).toContain('overrides[9].limits.api.limit must be')
})
