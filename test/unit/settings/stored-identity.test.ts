import {
  byIp,
  candidateLimits,
  createLimiter,
  identitiesOf,
  type LimiterOptions,
  memoryStore,
  type SettingsOverride,
  type Store,
  sharedSettings,
} from 'headgate'
import { customStore } from 'headgate/store'

const ada = { by: 'ada', reason: 'a test' }
const secret = 'a secret of 32 characters or more'

interface Job {
  readonly id?: string
  readonly ip: string
}

const acme: Job = { id: 'acme', ip: '192.0.2.7' }
const eve: Job = { id: 'eve', ip: '192.0.2.8' }

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()))
})

/** A store as another process keeps it, to which identities go as hashes. */
function remoteStore(): Store {
  const { name, apply, documents } = memoryStore()
  return customStore({ name, apply, ...(documents && { documents }) })
}

/** A limiter that follows settings, with ways to learn an identity and to add an override. */
function following(options: Partial<LimiterOptions<Job>> = {}) {
  const { store = memoryStore() } = options
  const settings = sharedSettings(store)
  const limiter = createLimiter<Job>({
    name: 'api',
    limit: 5,
    window: '1h',
    key: (job) => job.id,
    store,
    settings,
    ...options,
  } as LimiterOptions<Job>)
  closing.push(() => limiter.close())
  return {
    limiter,
    shownOf: async (job: Job) => identitiesOf(await limiter.charge(job))[0]?.identity ?? '',
    add: (...added: SettingsOverride[]) =>
      settings.change('api', ({ overrides }) => ({ overrides: [...overrides, ...added] }), ada),
    sourceOf: async (job: Job) => (await limiter.charge(job)).source,
  }
}

const KINDS: Readonly<Record<string, () => Partial<LimiterOptions<Job>>>> = {
  'in memory': () => ({}),
  'in memory, with a secret': () => ({ secret }),
  'outside the process': () => ({ store: remoteStore() }),
  'outside the process, with a secret': () => ({ store: remoteStore(), secret }),
  'for an address': () => ({ key: byIp() }),
  'for an address, with a secret': () => ({ key: byIp(), secret }),
  'for several keys in memory': () => ({ key: [byIp(), (job) => job.id] }),
  'for several keys outside the process': () => ({ store: remoteStore(), key: [byIp(), (job) => job.id] }),
  'for a long value': () => ({ key: (job) => `${'x'.repeat(100)}${job.id}` }),
}

test.each(Object.entries(KINDS))(
  'an identity as it is stored blocks its client alone, %s',
  async (_, make) => {
    const { shownOf, add, sourceOf } = following(make())
    await add({ storedIdentity: await shownOf(acme), block: true })
    expect([await sourceOf(acme), await sourceOf(eve)]).toEqual(['blocked', 'store'])
  },
)

test('a client without a key is blocked by the hash of its address', async () => {
  const { shownOf, add, sourceOf } = following({ key: (job: Job) => job.id ?? null } as never)
  const request = { ip: '192.0.2.7', socket: { remoteAddress: '192.0.2.7' }, headers: {} }
  await add({ storedIdentity: await shownOf(request), block: true })
  expect(await sourceOf(request)).toBe('blocked')
})

test('it changes limits, also those of a candidate', async () => {
  const candidate = candidateLimits({ limit: 3, window: '1h' })
  const { limiter, shownOf, add } = following({ candidate })
  await add({ storedIdentity: await shownOf(acme), limits: { api: { limit: 50 } } })
  const limits: number[][] = []
  limiter.events.on('candidate', (tried, decision) => limits.push([decision.limit, tried.limit]))
  for (const job of [acme, eve]) await limiter.charge(job)
  expect(limits).toEqual([
    [50, 50],
    [5, 3],
  ])
})

test('it precedes an override by the identity that the key returns, in either order', async () => {
  const { shownOf, add, sourceOf } = following()
  const [first, second] = [await shownOf(acme), await shownOf(eve)]
  await add({ identity: 'acme', exempt: true }, { storedIdentity: first, block: true })
  await add({ storedIdentity: second, block: true }, { identity: 'eve', exempt: true })
  expect([await sourceOf(acme), await sourceOf(eve)]).toEqual(['blocked', 'blocked'])
})

test.each([
  ['user:acme', 'an identity as stores keep it: a hash of 22 characters, or an address'],
  ['', 'an identity as stores keep it'],
  [['a'], 'an identity as stores keep it'],
  [`${'x'.repeat(22)}|`, 'an identity as stores keep it'],
  ['2001:db8::1', 'an identity as stores keep it'],
])('%j is no identity as stores keep it', async (storedIdentity, problem) => {
  const { add } = following()
  await expect(add({ storedIdentity: storedIdentity as string, block: true })).rejects.toThrow(
    `settings: overrides[0].storedIdentity must be ${problem}`,
  )
})

test('it has as many parts as a limit has keys', async () => {
  const { add } = following()
  await expect(add({ storedIdentity: '192.0.2.7|192.0.2.8', block: true })).rejects.toThrow(
    'overrides[0].storedIdentity must be one hash or address for each key of a limit (1)',
  )
})

test('no two overrides have it', async () => {
  const { add } = following()
  const override = { storedIdentity: 'x'.repeat(22), block: true as const }
  await expect(add(override, override)).rejects.toThrow('overrides[1] has the same target as overrides[0]')
})
