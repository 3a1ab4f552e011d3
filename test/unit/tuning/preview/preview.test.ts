import {
  byIp,
  concurrency,
  consecutive,
  fixedWindow,
  type Policy,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { valueHash } from '../../../../src/keys/value-identity.js'
import type { Mode } from '../../../../src/limiter/access-rules.js'
import type { GivenDocument } from '../../../../src/limiter/settings-document.js'
import type { BaseSpec } from '../../../../src/policies/spec.js'
import type { ClientDemand, LimitDemand } from '../../../../src/tuning/client-demand.js'
import { previewOf } from '../../../../src/tuning/preview/preview.js'
import { previewRules } from '../../../../src/tuning/preview/preview-rules.js'

const window = fixedWindow({ limit: 10, window: '1m' })
const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(valueHash(undefined)) as [string, string, string, string]
const client = (identity: string, peak: number, own: Partial<ClientDemand> = {}): ClientDemand => ({
  ...{ identity, peak, weight: 1, wasDenied: false },
  ...own,
})
const demandOf = (
  policy: Policy,
  demands: readonly ClientDemand[],
  own: Partial<LimitDemand> = {},
): LimitDemand => ({
  ...{ limitName: 'api', policy: policy.spec as BaseSpec, limit: policy.limit, windowMs: policy.windowMs },
  ...{ fromMs: 1000, toMs: 9000, clients: 3400, demands },
  ...own,
})
const usual = demandOf(window, [
  client(a, 40, { wasDenied: true }),
  client(b, 9),
  client(c, 6, { weight: 11 }),
  client(d, 2, { weight: 3386 }),
])

interface Asked {
  readonly policy?: Policy | (() => Policy)
  readonly key?: () => unknown
  readonly secret?: string
}

async function preview(
  document: GivenDocument,
  demands: readonly LimitDemand[] = [usual],
  { policy = window, key = () => undefined, secret }: Asked = {},
) {
  const entries = [{ owner: 'test', policy: policy as Policy, key: [key as never], cost: undefined }]
  const rules = await previewRules({ name: 'api', entries, embeddings: [], secret }, document)
  return previewOf(rules, demands)[0]
}

const counts = (
  denied: number,
  wouldDeny: number,
  newlyDeniedCount: number,
  noLongerDeniedCount: number,
) => ({
  ...{ denied, wouldDeny, newlyDeniedCount, noLongerDeniedCount },
})

test.each<[string, GivenDocument, object]>([
  ['a lower limit', { limits: { api: { limit: 5 } } }, counts(1, 13, 12, 0)],
  ['a limit that some reach, but none exceeds', { limits: { api: { limit: 9 } } }, counts(1, 1, 0, 0)],
  ['a higher limit', { limits: { api: { limit: 50 } } }, counts(1, 0, 0, 1)],
  ['the limit of the code', { limits: {} }, counts(1, 1, 0, 0)],
  ['another limit', { limits: { other: { limit: 1 } } }, counts(1, 1, 0, 0)],
  ['the same window', { limits: { api: { limit: 5, window: '1m' } } }, counts(1, 13, 12, 0)],
  [
    'the same policy by its name',
    { limits: { api: { policy: 'fixedWindow', limit: 5, window: '1m' } } },
    counts(1, 13, 12, 0),
  ],
  ['an exemption', { overrides: [{ storedIdentity: a, exempt: true }] }, counts(1, 0, 0, 1)],
  ['a block', { overrides: [{ storedIdentity: b, block: true }] }, counts(1, 2, 1, 0)],
  ['a raise', { overrides: [{ storedIdentity: a, limits: { api: { limit: 40 } } }] }, counts(1, 0, 0, 1)],
  ['an exemption by identity', { overrides: [{ identity: 'a', exempt: true }] }, counts(1, 0, 0, 1)],
  [
    'an override that has ended',
    { overrides: [{ storedIdentity: b, block: true, until: '2020-01-01T00:00:00Z' }] },
    counts(1, 1, 0, 0),
  ],
  [
    'a stored identity before an identity',
    {
      overrides: [
        { storedIdentity: a, block: true },
        { identity: 'a', exempt: true },
      ],
    },
    counts(1, 1, 0, 0),
  ],
])('counts what %s would have denied', async (_, document, expected) => {
  const found = await preview(document)
  expect(found).toMatchObject({ limitName: 'api', clients: 3400, fromMs: 1000, toMs: 9000, ...expected })
  expect([found?.problem, found?.notes, found?.isBound]).toEqual([undefined, undefined, undefined])
})

test('a change of the mode denies those over the limit, or nobody', async () => {
  const entries = [{ owner: 'test', policy: window, key: [() => undefined], cost: undefined }]
  const of = async (document: GivenDocument, before: Mode, after: Mode | undefined) => {
    const rules = await previewRules({ name: 'api', entries, embeddings: [], secret: undefined }, document)
    const [preview] = previewOf(rules, [usual], { before, after })
    return preview && { ...preview, notes: preview.notes?.length ?? 0 }
  }
  const lower = { limits: { api: { limit: 5 } } }
  expect([
    await of({}, 'report', 'enforce'),
    await of({}, 'enforce', 'report'),
    await of(lower, 'report', 'enforce'),
    await of(lower, 'report', 'report'),
    await of(lower, 'enforce', undefined),
    await of(lower, 'report', undefined),
  ]).toMatchObject([
    { ...counts(0, 1, 1, 0), newlyDenied: [{ identity: a, peak: 40 }], notes: 0 },
    { ...counts(1, 0, 0, 1), noLongerDenied: [{ identity: a, peak: 40 }], notes: 0 },
    { ...counts(0, 13, 13, 0), notes: 0 },
    { ...counts(1, 13, 12, 0), notes: 1 },
    { ...counts(1, 13, 12, 0), notes: 1 },
    { ...counts(0, 13, 13, 0), notes: 1 },
  ])
})

test('names who would have been denied newly, and no longer, the largest first', async () => {
  expect((await preview({ limits: { api: { limit: 5 } } }))?.newlyDenied).toEqual([
    { identity: b, peak: 9 },
    { identity: c, peak: 6 },
  ])
  expect((await preview({ limits: { api: { limit: 50 } } }))?.noLongerDenied).toEqual([
    { identity: a, peak: 40 },
  ])
})

describe('clients that are known by their address', () => {
  const byAddress = demandOf(window, [
    client('203.0.113.7', 9),
    client('203.0.113.8', 40, { wasDenied: true }),
    client('198.51.100.1', 8),
    client('2001:db8:1:200::/56', 7),
  ])
  const key = byIp() as () => unknown

  test.each<[string, GivenDocument, object]>([
    ['a network', { overrides: [{ network: '203.0.113.0/24', block: true }] }, counts(1, 2, 1, 0)],
    [
      'the smallest network',
      {
        overrides: [
          { network: '203.0.113.0/24', block: true },
          { network: '203.0.113.8', exempt: true },
        ],
      },
      counts(1, 1, 1, 1),
    ],
    ['an IPv6 network', { overrides: [{ network: '2001:db8:1::/48', block: true }] }, counts(1, 2, 1, 0)],
    ['a prefix', { overrides: [{ identityPrefix: '203.0.113.', block: true }] }, counts(1, 2, 1, 0)],
    ['an address', { overrides: [{ identity: '203.0.113.7', block: true }] }, counts(1, 2, 1, 0)],
  ])('are in %s', async (_, document, expected) => {
    const found = await preview(document, [byAddress], { key })
    expect(found).toMatchObject(expected)
    expect(found?.notes).toBeUndefined()
  })

  test('are hashed with a secret: an identity is found, and a network is not', async () => {
    const hash = valueHash('pepper')
    const hashed = demandOf(window, [client(hash('203.0.113.7'), 9), client(hash('ada'), 8)])
    const secret = { secret: 'pepper' }
    const ada = await preview({ overrides: [{ identity: 'ada', block: true }] }, [hashed], secret)
    const network = await preview(
      { overrides: [{ network: '203.0.113.0/24', block: true }] },
      [hashed],
      secret,
    )
    expect([ada?.newlyDenied, network?.newlyDenied, network?.notes]).toEqual([
      [{ identity: hash('ada'), peak: 8 }],
      [],
      ['2 clients are not known by IP address, so overrides of networks may also apply to them.'],
    ])
  })
})

test('says how many clients an override may also apply to, and leaves out those with their own', async () => {
  const overrides = [
    { identityPrefix: 'team-', exempt: true as const },
    { network: '203.0.113.0/24', block: true as const },
    { storedIdentity: c, exempt: true as const },
  ]
  expect((await preview({ overrides }))?.notes).toEqual([
    '3,388 clients are known only by a hash, so overrides by prefix may also apply to them.',
    '3,388 clients are not known by IP address, so overrides of networks may also apply to them.',
  ])
})

test('a client counts once, although the limit has had several numbers', async () => {
  const other = demandOf(fixedWindow({ limit: 20, window: '1m' }), [client(b, 30)], { toMs: 99_000 })
  expect(await preview({ limits: { api: { limit: 8 } } }, [usual, other])).toMatchObject({
    ...{ toMs: 99_000, ...counts(1, 2, 1, 0) },
    newlyDenied: [{ identity: b, peak: 30 }],
  })
})

test('what was denied is believed more than a peak, which knows nothing of refunds and of bans by hand', async () => {
  const odd = demandOf(window, [client(a, 40), client(b, 3, { wasDenied: true })])
  const denied = async (document: GivenDocument) => (await preview(document, [odd]))?.wouldDeny
  expect([
    await denied({}),
    await denied({ limits: { api: { limit: 30 } } }),
    await denied({ limits: { api: { limit: 2 } } }),
  ]).toEqual([1, 0, 2])
})

describe('a token bucket', () => {
  const bucket = tokenBucket({ capacity: 10, refill: 10, every: '1m' })
  const peaks = [90, 40, 25, 12, 6, 5, 5]
  const counted = demandOf(bucket, [client(a, 13, { peaks, wasDenied: true })])
  const after = async (capacity: number, refill: number) => {
    const limits = { api: { policy: 'tokenBucket', capacity, refill, every: '1m' } } as const
    const found = await preview({ limits }, [counted], { policy: bucket })
    return [found?.wouldDeny, found?.isBound ?? false]
  }

  test('is known exactly at rates that are measured, whatever its capacity', async () => {
    expect([await after(12, 10), await after(11, 10), await after(6, 20), await after(39, 2.5 * 2)]).toEqual([
      [0, false],
      [1, false],
      [0, false],
      [0, false],
    ])
  })

  test('is bounded between them: 15 a minute leave at most 9 in use', async () => {
    expect([await after(9, 15), await after(8, 15)]).toEqual([
      [0, false],
      [1, true],
    ])
  })

  test('with another limit has another refill', async () => {
    const found = async (limit: number) =>
      (await preview({ limits: { api: { limit } } }, [counted], { policy: bucket }))?.wouldDeny
    expect([await found(10), await found(11), await found(20)]).toEqual([1, 1, 0])
  })
})

test.each<[string, GivenDocument, RegExp]>([
  ['another window', { limits: { api: { window: '5m' } } }, /window in force/],
  [
    'another policy',
    { limits: { api: { policy: 'slidingWindow', limit: 5, window: '1m' } } },
    /another policy/,
  ],
])('does not count what it cannot know: %s', async (_, document, problem) => {
  expect(await preview(document)).toMatchObject({
    problem: expect.stringMatching(problem),
    ...counts(0, 0, 0, 0),
  })
})

test('does not know what becomes of the policies that a function returns, unless they stay', async () => {
  const policy = () => window
  const stays = await preview({ overrides: [{ storedIdentity: a, exempt: true }] }, [usual], { policy })
  const changes = await preview({ limits: { api: { limit: 50 } } }, [usual], { policy })
  expect([stays, changes]).toMatchObject([
    counts(1, 0, 0, 1),
    { problem: expect.stringMatching(/^A function in the code returns/) },
  ])
})

test('an override with another window leaves its client as it was, and says so', async () => {
  const overrides = [
    { storedIdentity: a, limits: { api: { policy: 'slidingWindow', limit: 99, window: '1m' } } },
  ]
  expect(await preview({ overrides } as never)).toMatchObject({
    ...counts(1, 1, 0, 0),
    notes: ['1 client is under an override with another policy or window, and counted as before.'],
  })
})

test('parts that do not fit the limiter are left out, and named', async () => {
  const overrides = [{ storedIdentity: `${a}|${b}`, block: true as const }]
  expect((await preview({ overrides }))?.notes).toEqual([
    expect.stringMatching(/^Left out: settings: overrides\[0\]/),
  ])
})

test('a document that is not valid rejects as a change with it does', async () => {
  await expect(preview({ limits: { api: { window: 'soon' } } })).rejects.toThrow(/window must be a duration/)
})

test('says so if nothing is counted, and why nothing can be', async () => {
  const problems = [
    window,
    consecutive({ limit: 3 }),
    concurrency({ limit: 3 }),
    slidingWindow({ limit: 3, window: '1m' }),
  ]
  const found = await Promise.all(
    problems.map(async (policy) => (await preview({}, [], { policy }))?.problem),
  )
  const none = 'Nothing has been counted yet.'
  const noTime = expect.stringMatching(/do not come back with time/)
  expect(found).toEqual([none, noTime, noTime, none])
})
