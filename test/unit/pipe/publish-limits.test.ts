import {
  ban,
  byIp,
  candidateLimits,
  createLimiter,
  fixedWindow,
  type LimiterOptions,
  memoryStore,
  type Policy,
  type Store,
  StoreError,
  sharedSettings,
  tokenBucket,
} from 'headgate'
import { customStore } from 'headgate/store'
import { limitsIn, limitsText, type PublishedLimit } from '../../../src/pipe/limits-document.js'
import type { Documents } from '../../../src/stores/documents.js'
import { nextTurn } from '../../support/next-turn.js'
import { until } from '../../support/servers/wait.js'

const ada = { ip: '203.0.113.7' }
const window = fixedWindow({ limit: 5, window: '1m' })
const bucket = tokenBucket({ capacity: 9, refill: 9, every: '1s' })

/** A store that processes share. It counts what is sent for its documents. */
function sharedStore({ read, replace }: Partial<Documents> = {}) {
  const memory = memoryStore()
  const inner = memory.documents as Documents
  const sent = { reads: 0, writes: 0 }
  const documents: Documents = {
    read(requests) {
      sent.reads++
      return (read ?? inner.read)(requests)
    },
    replace(...written) {
      sent.writes++
      return (replace ?? inner.replace)(...written)
    },
  }
  const store: Store = customStore({
    name: 'shared',
    apply: async (operations) => memory.apply(operations),
    documents,
  })
  const publishedBy = async (limiter: string, prefix = 'hg') => {
    const [stored] = await inner.read([{ key: `${prefix}:limits:${limiter}` }])
    return limitsIn(stored?.text)
  }
  return { store, sent, inner, publishedBy }
}

type Shared = ReturnType<typeof sharedStore>

const limiterOn = (shared: Shared, options: Partial<LimiterOptions<object>>) =>
  createLimiter<object>({
    name: 'api',
    store: shared.store,
    key: byIp(),
    ...options,
  } as LimiterOptions<object>)

/** Waits until a limiter has published limits of these scopes and no others. */
async function untilPublished({ publishedBy }: Shared, limiter: string, ...scopes: string[]) {
  let limits: readonly PublishedLimit[] = []
  await until(`${limiter} publishes ${scopes}`, async () => {
    limits = await publishedBy(limiter)
    return JSON.stringify(limits.map(({ scope }) => scope)) === JSON.stringify(scopes)
  })
  return limits
}

test('after its first charge, a limiter publishes the numbers of its limits, and of its candidate', async () => {
  const shared = sharedStore()
  const policy = ban(window, { after: 3, within: '1m', for: ['1m', '1h'] })
  const limits = [
    { name: 'burst', policy: bucket, key: byIp() },
    { name: 'day', policy, key: byIp() },
  ]
  const limiter = limiterOn(shared, {
    limits,
    key: undefined as never,
    candidate: candidateLimits({ limits: [{ name: 'day', policy: window }] }),
  })
  expect(shared.sent).toEqual({ reads: 0, writes: 0 })
  await limiter.charge(ada)
  expect(await untilPublished(shared, 'api', 'api/burst:tb', 'api/day:bfw', 'api/_candidate/day:fw')).toEqual(
    [
      { scope: 'api/burst:tb', spec: bucket.spec },
      { scope: 'api/day:bfw', spec: policy.spec },
      { scope: 'api/_candidate/day:fw', spec: window.spec },
    ],
  )
  for (let i = 0; i < 5; i++) await limiter.charge(ada)
  expect(shared.sent).toEqual({ reads: 1, writes: 1 })
})

test('of processes with the same numbers, one writes', async () => {
  const shared = sharedStore()
  for (let i = 1; i <= 3; i++) {
    await limiterOn(shared, { policy: window }).charge(ada)
    await until('the document is read', async () => shared.sent.reads === i)
  }
  await untilPublished(shared, 'api', 'api:fw')
  expect(shared.sent.writes).toBe(1)
})

test('a process that another one forestalls reads the document again', async () => {
  const shared: Shared = sharedStore({
    async replace(key, text, version) {
      if (shared.sent.writes === 1) await shared.inner.replace(key, limitsText([]), undefined)
      return shared.inner.replace(key, text, version)
    },
  })
  await limiterOn(shared, { policy: window }).charge(ada)
  await untilPublished(shared, 'api', 'api:fw')
  expect(shared.sent).toEqual({ reads: 2, writes: 2 })
})

test('publishes what a policy function returns, once it has returned it', async () => {
  const shared = sharedStore()
  const plans: Record<string, Policy> = { free: window, pro: fixedWindow({ limit: 50, window: '1m' }) }
  const limiter = limiterOn(shared, {
    policy: ({ plan }: { plan: string }) => plans[plan] as Policy,
  } as object)
  await limiter.charge({ ...ada, plan: 'free' })
  await untilPublished(shared, 'api', 'api:fw')
  await limiter.charge({ ...ada, plan: 'pro' })
  const limits = await untilPublished(shared, 'api', 'api:fw', 'api:fw')
  expect(limits.map(({ spec }) => spec)).toEqual([window.spec, plans.pro?.spec])
  expect(shared.sent.writes).toBe(2)
})

test('publishes the numbers of settings in place of those in the code', async () => {
  const shared = sharedStore()
  const settings = sharedSettings(shared.store)
  const limiter = limiterOn(shared, { policy: window, settings })
  await limiter.charge(ada)
  await untilPublished(shared, 'api', 'api:fw')
  await settings.change('api', () => ({ limits: { api: { limit: 7 } } }), { by: 'ada', reason: 'a test' })
  await until('the new numbers are published', async () => {
    const [only, ...others] = await shared.publishedBy('api')
    return others.length === 0 && JSON.stringify(only?.spec) === JSON.stringify({ ...window.spec, limit: 7 })
  })
  await limiter.close()
})

test('has at most 64 limits', async () => {
  const shared = sharedStore()
  const policy = ({ limit }: { limit: number }) => fixedWindow({ limit, window: '1m' })
  const limiter = limiterOn(shared, { policy } as object)
  for (let limit = 1; limit <= 100; limit++) await limiter.charge({ ...ada, limit })
  await until('64 limits are published', async () => (await shared.publishedBy('api')).length === 64)
  const many = limitsText(Array.from({ length: 65 }, () => ({ scope: 'api:fw', spec: window.spec })))
  expect(limitsIn(many)).toHaveLength(64)
})

test.each([
  ['the store fails', new Error('connection lost'), 2],
  ['the store refuses', new StoreError('shared', 'NOPERM', { replied: true }), 1],
])('if %s, charges go on, and the document follows unless the store refused it', async (_, error, reads) => {
  const setTimer = jest.spyOn(globalThis, 'setTimeout')
  try {
    const shared: Shared = sharedStore({
      read: async (requests) => {
        if (shared.sent.reads === 1) throw error
        return shared.inner.read(requests)
      },
    })
    const limiter = limiterOn(shared, { policy: window })
    expect(await limiter.charge(ada)).toMatchObject({ allowed: true, source: 'store' })
    const retries = () => setTimer.mock.calls.filter(([, ms]) => ms === 60_000)
    await until('the attempt fails', async () => shared.sent.reads === 1 && retries().length === reads - 1)
    await nextTurn()
    for (const [publish] of retries()) publish()
    if (reads === 2) await untilPublished(shared, 'api', 'api:fw')
    expect(await limiter.charge(ada)).toMatchObject({ allowed: true, source: 'store' })
    expect(shared.sent.reads).toBe(reads)
    await limiter.close()
  } finally {
    setTimer.mockRestore()
  }
})

test('a limiter without a name, and one in memory, publish nothing', async () => {
  const shared = sharedStore()
  await limiterOn(shared, { name: undefined as never, policy: window }).charge(ada)
  const memory = memoryStore()
  await createLimiter<object>({ name: 'api', policy: window, key: byIp(), store: memory }).charge(ada)
  await limiterOn(shared, { name: 'other', policy: window }).charge(ada)
  await untilPublished(shared, 'other', 'other:fw')
  expect(shared.sent.reads).toBe(1)
  expect(await memory.documents?.read([{ key: 'hg:limits:api' }])).toEqual([undefined])
})

test.each([
  ['no text', undefined],
  ['no JSON', '{'],
  ['no object', 'null'],
  ['no list', '{"limits":{}}'],
  ['no limit', '{"limits":[null,1,{"scope":"api:fw"},{"scope":"api:fw","spec":{"kind":"fixed-window"}}]}'],
])('a document with %s has no limits', (_, text) => {
  expect(limitsIn(text)).toEqual([])
})
