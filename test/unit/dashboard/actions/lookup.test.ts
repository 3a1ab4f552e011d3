import {
  ban,
  byIp,
  candidateLimits,
  concurrency,
  consecutive,
  createLimiter,
  fixedWindow,
  type Limiter,
  loginGuard,
  memoryStore,
  type Policy,
  type Store,
  StoreError,
} from 'headgate'
import { customStore, type Documents, keysOf, type Operation } from 'headgate/store'
import { blockIdentities, releaseIdentities } from '../../../../src/dashboard/actions/adjust-clients.js'
import { canBeIdentity, lookUp } from '../../../../src/dashboard/actions/lookup.js'
import { LimiterWatch, type Watched } from '../../../../src/dashboard/figures/limiter-watch.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'

const policy = fixedWindow({ limit: 3, window: '1h' })
const banning = ban(policy, { after: 3, within: '5m', for: ['1m', '1h'] })
const shorter = ban(policy, { after: 3, within: '5m', for: '10m' })

function watched<S = string>(options: object = {}): { limiter: Limiter<S>; watch: Watched } {
  const limiter = createLimiter<S>({
    name: 'api',
    policy,
    key: (id: S) => String(id),
    store: memoryStore(),
    ...options,
  })
  const inspection = inspectionOf(limiter) as Inspection
  return { limiter, watch: { name: 'api', limiter: limiter as Limiter<never>, inspection } }
}

const keyed = (...policies: readonly unknown[]) => ({
  policy: undefined,
  key: undefined,
  limits: policies.map((each, i) => ({ name: `limit-${i}`, policy: each, key: (id: string) => id })),
})

test('finds what each limit holds of an identity, and nothing of others', async () => {
  const { limiter, watch } = watched(keyed(policy, banning))
  await limiter.charge('ada')
  const { standings, ...rest } = await lookUp(watch, 'ada')
  expect(rest).toEqual({ limiter: 'api', longestBlockMs: 3_600_000 })
  expect(standings).toMatchObject([
    { limitName: 'limit-0', remaining: 2, bannedForMs: 0 },
    { limitName: 'limit-1', remaining: 2, bannedForMs: 0 },
  ])
  expect((await lookUp(watch, 'bob')).standings).toEqual([])
})

test.each([
  ['none of its limits is a ban', [policy], 0],
  ['one is', [policy, banning], 3_600_000],
  ['two are: that of the shorter', [banning, shorter], 600_000],
])('the longest block of a limiter, where %s', async (_, policies, longestBlockMs) => {
  expect(await lookUp(watched(keyed(...policies)).watch, 'ada')).toMatchObject({ longestBlockMs })
})

describe('plans of a policy function, whose states share a key', () => {
  const free = fixedWindow({ limit: 3, window: '1h' })
  const paid = fixedWindow({ limit: 9, window: '1d' })
  const plans = (...policies: readonly Policy[]) => {
    const calls: Operation[] = []
    const memory = memoryStore()
    const store: Store = customStore({
      name: 'plans',
      async apply(operations) {
        calls.push(...operations)
        return memory.apply(operations)
      },
    })
    const policy = ({ plan }: { plan: number }) => policies[plan]
    const key = ({ id }: { id: string }) => id
    return { ...watched<{ id: string; plan: number }>({ policy, key, store, denyCache: false }), calls }
  }
  const keysIn = (calls: readonly Operation[]) => calls.flatMap(keysOf).map(({ key }) => key)

  test('are each looked up under their own numbers, and their keys are released once', async () => {
    const { limiter, watch, calls } = plans(free, paid)
    for (const plan of [0, 1]) await limiter.charge({ id: 'ada', plan })
    await limiter.charge({ id: 'bob', plan: 0 })
    expect((await lookUp(watch, 'ada')).standings).toMatchObject([
      { limitName: 'api', limit: 3, remaining: 1 },
      { limitName: 'api', limit: 9, remaining: 7 },
    ])
    calls.length = 0
    await releaseIdentities(watch, ['ada'])
    expect(new Set(keysIn(calls)).size).toBe(calls.length)
    expect((await lookUp(watch, 'ada')).standings).toEqual([])
    expect((await lookUp(watch, 'bob')).standings).toHaveLength(2)
  })

  test('have each its name, where the limiter has none', async () => {
    const { limiter, watch } = watched<number>({
      name: undefined,
      policy: (plan: number) => (plan === 0 ? free : paid),
      key: () => 'ada',
    })
    for (const plan of [0, 1]) await limiter.charge(plan)
    expect((await lookUp(watch, 'ada')).standings).toMatchObject([
      { limitName: free.name },
      { limitName: paid.name },
    ])
  })

  test('are all there in a limiter with a plan of another kind', async () => {
    const { limiter, watch } = plans(free, consecutive({ limit: 5 }))
    for (const plan of [0, 1]) await limiter.charge({ id: 'ada', plan })
    expect((await lookUp(watch, 'ada')).standings).toMatchObject([{ limit: 3 }, { limit: 5 }])
  })

  test('are blocked for at most the shorter of their bans, which shortens none of the longer one', async () => {
    const { limiter, watch } = plans(shorter, banning)
    for (const plan of [0, 1]) await limiter.charge({ id: 'bob', plan })
    await limiter.blockFor({ id: 'ada', plan: 1 }, '1h')
    expect(await lookUp(watch, 'ada')).toMatchObject({
      longestBlockMs: 600_000,
      standings: [
        { bannedForMs: expect.closeTo(3_600_000, -4) },
        { bannedForMs: expect.closeTo(3_600_000, -4) },
      ],
    })
    await expect(blockIdentities(watch, ['ada'], 3_600_000)).rejects.toThrow(
      'at most the longest ban of the limit api, 10m',
    )
    await blockIdentities(watch, ['ada'], 600_000)
    const { standings } = await lookUp(watch, 'ada') // also of other spellings
    expect(Math.max(...standings.map(({ bannedForMs }) => bannedForMs))).toBeGreaterThan(3_000_000)
    await blockIdentities(watch, ['bob'], 600_000)
    for (const plan of [0, 1]) {
      const { allowed, retryAfterMs } = await limiter.charge({ id: 'bob', plan })
      expect([allowed, Math.round(retryAfterMs / 60_000)]).toEqual([false, 10])
    }
  })

  test('of requests in flight show what is held of each', async () => {
    const [small, large] = [concurrency({ limit: 2 }), concurrency({ limit: 5 })]
    const { limiter, watch } = plans(large, small)
    for (const plan of [0, 1]) await limiter.charge({ id: 'ada', plan })
    expect((await lookUp(watch, 'ada')).standings).toMatchObject([
      { limit: 5, remaining: 3 },
      { limit: 2, remaining: 0 },
    ])
    await limiter.close()
  })
})

test('says which option lists an address', async () => {
  const { watch } = watched<object>({ key: byIp(), allow: ['192.0.2.1'], block: ['192.0.2.2'] })
  const listings = await Promise.all(['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((ip) => lookUp(watch, ip)))
  expect(listings.map(({ listing }) => listing)).toEqual(['allow', 'block', undefined])
  expect(listings[2]).not.toHaveProperty('listing')
})

test('says why a store cannot be read', async () => {
  const lost: Store = customStore({
    ...memoryStore(),
    name: 'remote',
    apply: () => Promise.reject(new Error('lost')),
  })
  expect(await lookUp(watched({ store: lost }).watch, 'ada')).toMatchObject({
    limiter: 'api',
    standings: [],
    problem: 'remote: lost',
  })
})

describe('the document with the limits of other processes', () => {
  const readBy = (read: Documents['read'], options: object = {}) => {
    const { name: _, ...memory } = memoryStore()
    const documents = { ...(memory.documents as Documents), read }
    return watched({ store: customStore({ ...memory, name: 'remote', documents }), ...options })
  }
  const limits = [
    { scope: 'api:fw', spec: fixedWindow({ limit: 9, window: '1h' }).spec },
    { scope: 'api/_candidate:fw', spec: policy.spec },
    { scope: 'api:fw', spec: { ...policy.spec, limit: -1 } },
    { scope: 'api', spec: policy.spec },
    { scope: 'login:fw', spec: policy.spec },
    { scope: 'api:tb', spec: policy.spec },
  ]

  test('replaces the limits of this process for the same keys, except where it is invalid', async () => {
    const { limiter, watch } = readBy(async () => [{ version: '1', text: JSON.stringify({ limits }) }])
    await limiter.charge('ada')
    expect((await lookUp(watch, 'ada')).standings).toMatchObject([{ limit: 9, remaining: 8 }])
  })

  test('is not needed by a store user without permission to read it', async () => {
    const denial = new StoreError('remote', 'NOPERM', { replied: true })
    const { limiter, watch } = readBy(() => Promise.reject(denial))
    await limiter.charge('ada')
    expect((await lookUp(watch, 'ada')).standings).toMatchObject([{ limit: 3, remaining: 2 }])
  })

  test.each([
    ['lost', () => Promise.reject(new Error('lost'))],
    ['no reply within 5 ms', () => new Promise<never>(() => {})],
  ])('cannot be read: %s', async (problem, read) => {
    const { watch } = readBy(read, { timeout: '5ms' })
    const found = { standings: [], problem: `remote: ${problem}` }
    expect(await lookUp(watch, 'ada')).toMatchObject(found)
  })
})

test('releases an identity alone, under each of its spellings', async () => {
  const { limiter, watch } = watched<object>({ key: byIp() })
  const [ada, bob] = [{ ip: '2001:db8:7::1' }, { ip: '192.0.2.1' }]
  for (const subject of [ada, bob]) await limiter.charge(subject)
  await releaseIdentities(watch, ['2001:DB8:7:0::9'])
  expect([(await limiter.peek(ada)).remaining, (await limiter.peek(bob)).remaining]).toEqual([3, 2])
})

test('blocks an identity for the time', async () => {
  const { limiter, watch } = watched({ policy: banning })
  await blockIdentities(watch, ['ada'], 600_000)
  const { allowed, retryAfterMs } = await limiter.charge('ada')
  expect([allowed, Math.round(retryAfterMs / 60_000)]).toEqual([false, 10])
  expect((await limiter.charge('bob')).allowed).toBe(true)
  const { standings } = await lookUp(watch, 'ada')
  expect(standings.some(({ bannedForMs }) => bannedForMs > 500_000)).toBe(true)
})

test('cannot block by limits that are not known yet', async () => {
  const { watch } = watched({ policy: () => banning })
  await expect(blockIdentities(watch, ['ada'], 600_000)).rejects.toEqual(
    new TypeError('dashboard: api has had no request yet. Block the client after its next request.'),
  )
})

test.each([
  ['ada', true],
  ['x'.repeat(1024), true],
  ['x'.repeat(1025), false],
  ['', false],
  [' \n', false],
  ['a\0', false],
  ['\ud800', false],
])('whether %j can be an identity: %s', (text, expected) => {
  expect(canBeIdentity(text)).toBe(expected)
})

describe('an identity that the page lists for a limiter in memory', () => {
  const once = {
    policy: ban(fixedWindow({ limit: 1, window: '1h' }), { after: 5000, within: '5m', for: '1h' }),
  }

  test('is found for as long as it is listed, whoever was denied since', async () => {
    const { limiter, watch } = watched(once)
    const page = new LimiterWatch(watch)
    for (let i = 0; i < 1000; i++) limiter.charge('eve')
    for (let i = 0; i < 4400; i++) limiter.charge(`client-${i >> 1}`)
    const { identity = '' } = page.report().denied[0] ?? {}
    expect(identity).not.toContain('eve')
    expect((await lookUp(page, identity)).standings).toMatchObject([{ identity, remaining: 0 }])
    await releaseIdentities(page, [identity])
    expect(await limiter.charge('eve')).toMatchObject({ allowed: true })
  })

  test('is found for a candidate that would have denied it', async () => {
    const { limiter, watch } = watched({ policy: banning, candidate: candidateLimits(once) })
    const page = new LimiterWatch(watch)
    for (let i = 0; i < 2; i++) limiter.charge('eve')
    const identity = limiter.candidateReport()?.limits[0]?.mostDenied[0]?.identity as string
    await blockIdentities(page, [identity], 60_000)
    expect(await limiter.charge('eve')).toMatchObject({ allowed: false })
  })
})

test('the account of a login guard in memory is found and released by its name', async () => {
  const { limiter } = loginGuard({ field: 'username' })
  const inspection = inspectionOf(limiter) as Inspection
  const watch = { name: 'login', limiter: limiter as Limiter<never>, inspection }
  await limiter.charge({ method: 'POST', body: { username: 'Ada' }, ip: '192.0.2.1', headers: {} } as never)
  expect((await lookUp(watch, 'ada')).standings).toMatchObject([{ limitName: 'account' }])
  await releaseIdentities(watch, ['Ada'])
  expect((await lookUp(watch, 'ada')).standings).toEqual([])
})
