import express from 'express'
import {
  candidateLimits,
  concurrency,
  createLimiter,
  type Decision,
  fixedWindow,
  type LimiterOptions,
  memoryStore,
  rateLimit,
} from 'headgate'
import { customStore } from 'headgate/store'
import supertest from 'supertest'
import type { CandidateOptions } from '../../../src/limiter/options.js'
import { brokenStore, promisingStore } from '../../support/fault-stores.js'

const key = (id: string) => id
const hourly = (limit: number) => fixedWindow({ limit, window: '1h' })

/** Returns a limiter of 5 requests an hour with a candidate, by a clock that stands still. */
function trying(given: CandidateOptions<string>, options: Partial<LimiterOptions<string>> = {}) {
  const candidate = candidateLimits(given)
  const store = memoryStore({ clock: () => Date.UTC(2026, 0, 5) })
  return createLimiter<string>({ policy: hourly(5), key, store, candidate, ...options })
}

async function chargeTimes(limiter: ReturnType<typeof trying>, id: string, times: number, cost = 1) {
  for (let i = 0; i < times; i++) await limiter.charge(id, { cost })
}

test('a candidate counts as if it stood alone, also when the limits in force deny', async () => {
  const limiter = trying({ policy: hourly(8), key })
  await chargeTimes(limiter, 'a', 10)
  await chargeTimes(limiter, 'b', 2)
  expect(await limiter.charge('a')).toMatchObject({ allowed: false, limit: 5 })
  expect(limiter.candidateReport()).toMatchObject({
    requests: 13,
    denied: 3,
    newlyDenied: 0,
    newlyAllowed: 3,
    failed: 0,
    clients: 2,
    deniedClients: 1,
    limits: [{ name: '8-in-1h', denied: 3, excessUnits: 3, deniedClients: 1 }],
  })
})

test('a stricter candidate denies nobody, and shows whom it would have denied, and by how much', async () => {
  const limiter = trying({ policy: hourly(2), key })
  await chargeTimes(limiter, 'a', 5)
  await chargeTimes(limiter, 'b', 1, 3)
  await chargeTimes(limiter, 'c', 2)
  const { limits = [], ...figures } = limiter.candidateReport() ?? {}
  expect(figures).toMatchObject({ requests: 8, denied: 4, newlyDenied: 4, newlyAllowed: 0 })
  expect(limits).toMatchObject([
    { denied: 4, excessUnits: 4, deniedClients: 2, mostDenied: [{ denied: 3 }, { denied: 1 }] },
  ])
})

test('a candidate names each of its limits that would have denied', async () => {
  const limiter = trying({
    limits: [
      { name: 'burst', policy: hourly(2), key },
      { name: 'all', policy: hourly(3), key: () => 'all' },
    ],
  })
  await chargeTimes(limiter, 'a', 3)
  await chargeTimes(limiter, 'b', 2)
  const { limits = [] } = limiter.candidateReport() ?? {}
  expect(Object.fromEntries(limits.map(({ name, denied }) => [name, denied]))).toEqual({ burst: 1, all: 1 })
})

test('a candidate without a key or a cost takes those of the limit in force', async () => {
  const limiter = trying({ policy: hourly(4) }, { policy: hourly(9), cost: 2 })
  for (const id of ['a', 'b', 'a', 'b', 'a']) await limiter.charge(id)
  expect(limiter.candidateReport()).toMatchObject({
    denied: 1,
    limits: [{ excessUnits: 2, deniedClients: 1 }],
  })
})

test('of several limits in force, that of the same name has the key of a candidate, or the first', async () => {
  const limits = [
    { name: 'all', policy: hourly(9), key: () => 'all' },
    { name: 'each', policy: hourly(9), key },
  ]
  const { charge, candidateReport } = createLimiter<string>({
    limits,
    candidate: candidateLimits({
      limits: [
        { name: 'each', policy: hourly(1) },
        { name: 'new', policy: hourly(3) },
      ],
    }),
  })
  for (const id of ['a', 'b', 'c', 'd', 'a']) await charge(id)
  const { limits: tried = [] } = candidateReport() ?? {}
  const denied = Object.fromEntries(tried.map(({ name, denied }) => [name, denied]))
  expect(denied).toEqual({ each: 1, new: 2 }) // a came twice; all of them came five times
})

test('a candidate of the same policy has keys of its own', async () => {
  const limiter = trying({ policy: hourly(5), key })
  await chargeTimes(limiter, 'a', 5)
  expect(limiter.candidateReport()).toMatchObject({ requests: 5, denied: 0 })
})

test('peeks and exempt subjects are not charged to a candidate', async () => {
  const limiter = trying({ policy: hourly(1), key }, { skip: (id) => id === 'skipped' })
  await limiter.peek('a')
  await chargeTimes(limiter, 'skipped', 3)
  expect(limiter.candidateReport()).toMatchObject({ requests: 0, failed: 0, denied: 0 })
})

test('a refund, an adjustment and forget apply to the candidate, too', async () => {
  const limiter = trying({ policy: hourly(3), key })
  const denied = () => limiter.candidateReport()?.denied
  for (let i = 0; i < 4; i++) await limiter.refund(await limiter.charge('a'))
  expect(denied()).toBe(0)
  await limiter.adjust(await limiter.charge('b', { cost: 3 }), 1)
  await chargeTimes(limiter, 'b', 2)
  expect(denied()).toBe(0)
  await limiter.forget('b')
  await chargeTimes(limiter, 'b', 3)
  expect(denied()).toBe(0)
  await limiter.forget(await limiter.charge('c', { cost: 3 }))
  await chargeTimes(limiter, 'c', 3)
  expect(denied()).toBe(0)
  await chargeTimes(limiter, 'c', 1)
  expect(denied()).toBe(1)
})

test('emits both decisions', async () => {
  const limiter = trying({ policy: hourly(1), key })
  const emitted: [Decision, Decision, string][] = []
  limiter.events.on('candidate', (...args) => emitted.push(args))
  await chargeTimes(limiter, 'a', 2)
  expect(emitted).toMatchObject([
    [{ allowed: true, limit: 1 }, { allowed: true, limit: 5 }, 'a'],
    [{ allowed: false, limit: 1 }, { allowed: true, limit: 5 }, 'a'],
  ])
})

test('a remote store gets the charges of both in one tick', async () => {
  const store = promisingStore()
  const sizes: number[] = []
  let ofThisTick = 0
  const { apply } = store
  store.apply = (operations) => {
    if (ofThisTick === 0) setImmediate(() => sizes.push(ofThisTick))
    ofThisTick += 1
    return apply(operations)
  }
  const limiter = trying({ policy: hourly(1), key }, { store: customStore(store) })
  await chargeTimes(limiter, 'a', 1)
  await new Promise(setImmediate)
  expect(sizes).toEqual([2])
  expect(limiter.candidateReport()).toMatchObject({ requests: 1 })
})

test('what a candidate cannot decide is counted, and changes no decision', async () => {
  const broken = trying({ policy: hourly(1), key }, { store: brokenStore(), onStoreError: 'allow' })
  broken.events.on('storeError', () => {})
  expect(await broken.charge('a')).toMatchObject({ allowed: true, source: 'fail-open' })
  await new Promise(setImmediate) // no decision waits for the candidate's
  expect(broken.candidateReport()).toMatchObject({ requests: 0, failed: 1 })
  const throwing = trying({
    policy: hourly(1),
    key: () => {
      throw new Error('no key')
    },
  })
  expect(await throwing.charge('a')).toMatchObject({ allowed: true, source: 'store' })
  expect(throwing.candidateReport()).toMatchObject({ requests: 0, failed: 1 })
})

test('middleware tries a candidate, and count refunds it', async () => {
  const limit = rateLimit({
    limit: 100,
    window: '1m',
    count: 'failed',
    candidate: candidateLimits({ policy: hourly(2) }),
  })
  const app = express().use(limit, (req, res) => void res.sendStatus(Number(req.query.status)))
  for (const status of [200, 200, 200, 401, 401, 401]) await supertest(app).get(`/?status=${status}`)
  expect(limit.limiter.candidateReport()).toMatchObject({ requests: 6, denied: 1, newlyDenied: 1 })
})

test('a limiter without a candidate has no report', () => {
  expect(createLimiter({ limit: 5, window: '1m' }).candidateReport()).toBeUndefined()
})

test.each<[CandidateOptions<string>, string]>([
  [{}, 'createLimiter: candidate: no limit is set.'],
  [
    { limit: 0, window: '1m' },
    'createLimiter: candidate: limit must be a whole number of at least 1, got 0.',
  ],
  [{ store: memoryStore() } as never, 'Write store next to candidate, not in it.'],
  [
    { policy: concurrency({ limit: 5 }) },
    'createLimiter: candidate: policy must not be concurrency: a candidate denies no request, so it cannot hold units.',
  ],
])('rejects the candidate %j', (candidate, message) => {
  expect(() => trying(candidate)).toThrow(TypeError)
  expect(() => trying(candidate)).toThrow(message)
})
