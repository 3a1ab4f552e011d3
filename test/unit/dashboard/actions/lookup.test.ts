import {
  ban,
  byIp,
  createLimiter,
  fixedWindow,
  type Limiter,
  loginGuard,
  memoryStore,
  type Store,
} from 'headgate'
import {
  blockIdentity,
  canBeIdentity,
  lookUp,
  releaseIdentity,
} from '../../../../src/dashboard/actions/lookup.js'
import { LimiterWatch, type Watched } from '../../../../src/dashboard/figures/limiter-watch.js'
import { type Inspection, inspectionOf } from '../../../../src/features/inspection.js'

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

test('says which option lists an address', async () => {
  const { watch } = watched<object>({ key: byIp(), allow: ['192.0.2.1'], block: ['192.0.2.2'] })
  const listings = await Promise.all(['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((ip) => lookUp(watch, ip)))
  expect(listings.map(({ listing }) => listing)).toEqual(['allow', 'block', undefined])
  expect(listings[2]).not.toHaveProperty('listing')
})

test('says why a store cannot be read', async () => {
  const lost: Store = { ...memoryStore(), name: 'remote', apply: () => Promise.reject(new Error('lost')) }
  expect(await lookUp(watched({ store: lost }).watch, 'ada')).toMatchObject({
    limiter: 'api',
    standings: [],
    problem: 'remote: lost',
  })
})

test('releases an identity alone, under each of its spellings', async () => {
  const { limiter, watch } = watched<object>({ key: byIp() })
  const [ada, bob] = [{ ip: '2001:db8:7::1' }, { ip: '192.0.2.1' }]
  for (const subject of [ada, bob]) await limiter.charge(subject)
  await releaseIdentity(watch, '2001:DB8:7:0::9')
  expect([(await limiter.peek(ada)).remaining, (await limiter.peek(bob)).remaining]).toEqual([3, 2])
})

test('blocks an identity for the time', async () => {
  const { limiter, watch } = watched({ policy: banning })
  await blockIdentity(watch, 'ada', 600_000)
  const { allowed, retryAfterMs } = await limiter.charge('ada')
  expect([allowed, Math.round(retryAfterMs / 60_000)]).toEqual([false, 10])
  expect((await limiter.charge('bob')).allowed).toBe(true)
  const { standings } = await lookUp(watch, 'ada')
  expect(standings.some(({ bannedForMs }) => bannedForMs > 500_000)).toBe(true)
})

test('cannot block by limits that are not known yet', async () => {
  const { watch } = watched({ policy: () => banning })
  await expect(blockIdentity(watch, 'ada', 600_000)).rejects.toEqual(
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
    await releaseIdentity(page, identity)
    expect(limiter.charge('eve')).toMatchObject({ allowed: true })
  })

  test('is found for a candidate that would have denied it', async () => {
    const { limiter, watch } = watched({ policy: banning, candidate: once })
    const page = new LimiterWatch(watch)
    for (let i = 0; i < 2; i++) limiter.charge('eve')
    const identity = limiter.candidateReport()?.limits[0]?.mostDenied[0]?.identity as string
    await blockIdentity(page, identity, 60_000)
    expect(limiter.charge('eve')).toMatchObject({ allowed: false })
  })
})

test('the account of a login guard in memory is found and released by its name', async () => {
  const { limiter } = loginGuard({ field: 'username' })
  const inspection = inspectionOf(limiter) as Inspection
  const watch = { name: 'login', limiter: limiter as Limiter<never>, inspection }
  await limiter.charge({ method: 'POST', body: { username: 'Ada' }, ip: '192.0.2.1', headers: {} } as never)
  expect((await lookUp(watch, 'ada')).standings).toMatchObject([{ limitName: 'account' }])
  await releaseIdentity(watch, 'Ada')
  expect((await lookUp(watch, 'ada')).standings).toEqual([])
})
