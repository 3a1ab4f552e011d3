import { channel } from 'node:diagnostics_channel'
import {
  ban,
  candidateLimits,
  concurrency,
  createLimiter,
  fixedWindow,
  type Limiter,
  type LimiterOptions,
  memoryStore,
  type Policy,
  quota,
  sharedSettings,
  tokenBucket,
} from 'headgate'
import { boardOf } from '../../../../src/dashboard/board/board.js'
import { LimiterWatch, watchAll } from '../../../../src/dashboard/figures/limiter-watch.js'
import { allSlots } from '../../../../src/dashboard/figures/traffic.js'
import { shownIdentity } from '../../../../src/keys/value-identity.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { storeThat } from '../../../support/fault-stores.js'
import { chargeStore } from '../../../support/store-calls.js'

const START_MS = 1_790_000_000_000
const policy = fixedWindow({ limit: 5, window: '1h' })

let nowMs: number
const watches: LimiterWatch[] = []

beforeEach(() => {
  nowMs = START_MS
})
afterEach(() => {
  for (const watch of watches.splice(0)) watch.stop()
})

function watched<S = string>(options: Partial<LimiterOptions<S>> = {}) {
  const limiter: Limiter<S> = createLimiter<S>({
    name: 'api',
    policy,
    key: (id: S) => String(id),
    store: memoryStore(),
    ...options,
  } as LimiterOptions<S>)
  const inspection = inspectionOf(limiter) as Inspection
  const watch = new LimiterWatch(
    { name: limiter.name ?? 'api', limiter: limiter as Limiter<never>, inspection },
    () => nowMs,
  )
  watches.push(watch)
  return { limiter, watch }
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)

test('reports what was allowed and denied, the highest use of each limit, and who came near it', async () => {
  const limits = [
    {
      name: 'burst',
      policy: tokenBucket({ capacity: 10, refill: 10, every: '1m' }),
      key: (id: string) => id,
    },
    { name: 'daily', policy: fixedWindow({ limit: 4, window: '1d' }), key: (id: string) => id },
  ]
  const { limiter, watch } = watched<string>({ policy: undefined, key: undefined, limits } as object)
  for (let i = 0; i < 6; i++) await limiter.charge('ada')
  await limiter.charge('bob')
  const report = watch.report()
  const { allowed, denied } = allSlots(report.traffic)
  expect([sum(allowed), sum(denied)]).toEqual([5, 2])
  expect(report.limits).toEqual([
    {
      name: 'burst',
      kind: 'token-bucket',
      limit: 10,
      windowMs: 60_000,
      allowed: 7,
      denied: 0,
      peak: expect.closeTo(0.4),
      isLocal: false,
    },
    {
      name: 'daily',
      kind: 'fixed-window',
      limit: 4,
      windowMs: 86_400_000,
      allowed: 5,
      denied: 2,
      peak: 1,
      isLocal: false,
    },
  ])
  expect(report.near).toMatchObject([{ limitName: 'daily', limit: 4, remaining: 0 }])
  expect(report.denied).toMatchObject([{ limitName: 'daily', denied: 2 }])
  expect(report.denied[0]?.identity).toBe(report.near[0]?.identity)
  expect(report.denied[0]?.identity).not.toBe('')
  expect(report).not.toHaveProperty('candidate')
})

test('the months of a quota are one limit, whatever their lengths', async () => {
  let today = ''
  const store = memoryStore({ clock: () => Date.parse(today) })
  const { limiter, watch } = watched({ store, policy: quota({ limit: 5, per: 'month' }) })
  for (today of ['2026-02-10', '2026-03-10', '2026-04-10']) await limiter.charge('ada')
  const monthMs = 30 * 86_400_000
  expect(watch.report().limits).toMatchObject([{ kind: 'quota', limit: 5, windowMs: monthMs, allowed: 3 }])
})

test('a denied request brings no client near the limits that allowed it', async () => {
  const limits = [
    { name: 'one', policy: fixedWindow({ limit: 5, window: '1h' }), key: (id: string) => id },
    { name: 'all', policy: fixedWindow({ limit: 1, window: '1h' }), key: () => 'all' },
  ]
  const { limiter, watch } = watched<string>({ policy: undefined, key: undefined, limits } as object)
  await limiter.penalize('ada', 4, { limits: ['one'] })
  await limiter.charge('bob')
  await limiter.charge('ada')
  expect(watch.report().near).toMatchObject([{ limitName: 'all' }])
  expect(watch.report().denied).toMatchObject([{ limitName: 'all', denied: 1 }])
})

test('what a limit decided counts for a minute, and in the chart for 15', async () => {
  const { limiter, watch } = watched()
  await limiter.charge('ada')
  nowMs += 65_000
  expect(watch.report().limits).toMatchObject([{ allowed: 0, peak: 0 }])
  expect(sum(allSlots(watch.report().traffic).allowed)).toBe(1)
  nowMs += 15 * 60_000
  expect(sum(allSlots(watch.report().traffic).allowed)).toBe(0)
})

test('a limit that never resets by itself has no window, and one that has not decided is there', () => {
  const { watch } = watched({ policy: { ...policy, windowMs: Number.POSITIVE_INFINITY } })
  expect(watch.report().limits).toMatchObject([
    { name: 'api', windowMs: null, allowed: 0, denied: 0, peak: 0 },
  ])
})

test('of the limits that a policy function returns, 64 have figures', async () => {
  const { limiter, watch } = watched<number>({
    policy: (plan: number) => fixedWindow({ limit: plan, window: '1h' }),
  } as object)
  for (let plan = 1; plan <= 70; plan++) await limiter.charge(plan)
  await limiter.charge(1)
  await limiter.charge(70)
  const { limits, traffic } = watch.report()
  expect(limits).toHaveLength(64)
  expect(limits[0]).toMatchObject({ limit: 1, allowed: 1, denied: 1 })
  const { allowed, denied } = allSlots(traffic)
  expect([sum(allowed), sum(denied)]).toEqual([71, 1])
})

test('shows all plans of a policy function that share a key, each with its kind', async () => {
  const plans: Readonly<Record<string, Policy>> = {
    free: fixedWindow({ limit: 1, window: '1h' }),
    paid: fixedWindow({ limit: 5, window: '1h' }),
  }
  const { limiter, watch } = watched<string>({
    policy: (plan: string) => plans[plan],
    key: () => 'ada',
  } as object)
  for (const plan of ['free', 'paid', 'free']) await limiter.charge(plan)
  expect(watch.report().limits).toMatchObject([
    { kind: 'fixed-window', limit: 1, allowed: 1, denied: 1 },
    { kind: 'fixed-window', limit: 5, allowed: 1, denied: 0 },
  ])
})

test('tells limits of one name apart by their size and their window', async () => {
  const { limiter, watch } = watched<string>({
    policy: (id: string) =>
      fixedWindow({
        limit: id === 'small' ? 5 : 9,
        window: id === 'long' ? '2h' : '1h',
        name: 'plan',
      } as never),
    name: 'plan',
  } as object)
  for (const id of ['small', 'large', 'long']) await limiter.charge(id)
  expect(watch.report().limits.map(({ limit, windowMs }) => [limit, windowMs])).toEqual([
    [5, 3_600_000],
    [9, 3_600_000],
    [9, 7_200_000],
  ])
})

test('shows the mode, and what a candidate would have done', async () => {
  const candidate = candidateLimits({
    policy: fixedWindow({ limit: 1, window: '1h' }),
    key: (id: string) => id,
  })
  const { limiter, watch } = watched<string>({ candidate, mode: 'report' } as object)
  for (let i = 0; i < 2; i++) await limiter.charge('ada')
  expect(watch.report()).toMatchObject({ mode: 'report', candidate: { requests: 2, newlyDenied: 1 } })
})

test('a memory store has its keys, and a remote one how long its calls take and how many fail', async () => {
  const { limiter, watch } = watched()
  await limiter.charge('ada')
  expect(watch.report().store).toMatchObject({ name: 'memory', state: 'closed', calls: 0, keys: 1 })

  const memory = memoryStore()
  let isDown = false
  const store = storeThat(async (charges) => {
    if (isDown) throw new Error('connection lost')
    return chargeStore(memory, charges)
  })
  const remote = watched({ name: 'remote', store })
  remote.limiter.events.on('storeError', () => undefined)
  for (let i = 0; i < 3; i++) await remote.limiter.charge('ada')
  isDown = true
  await remote.limiter.charge('ada')
  const report = remote.watch.report().store
  expect(report).toMatchObject({ name: 'faulty', state: 'closed', calls: 4, failures: 1 })
  expect(report).not.toHaveProperty('keys')
  expect(sum(report.latency)).toBe(4)
})

/** Publishes that the limiter of a watch called its store. */
function publishCall({ inspection }: LimiterWatch, own: object = {}): void {
  const { instance } = inspection
  const call = { type: 'call', limiter: 'remote', store: 'faulty', durationMs: 3, instance }
  channel('headgate:store').publish({ ...call, ...own })
}

test('counts the calls of its own limiter alone, also if another one has its name', () => {
  const [one, other] = [0, 1].map(() => watched({ name: 'remote', store: storeThat(() => []) }).watch)
  publishCall(one as LimiterWatch)
  publishCall(one as LimiterWatch, { type: 'close' })
  expect([one, other].map((watch) => watch?.report().store.calls)).toEqual([1, 0])
})

test('late replies to its own limiter alone say that its store is slow', () => {
  const watches = [0, 1].map(() => watched({ name: 'remote', store: storeThat(() => []) }))
  for (const { limiter } of watches) limiter.events.emit('storeState', 'open', undefined as never)
  publishCall(watches[0]?.watch as LimiterWatch, { type: 'late', durationMs: 412 })
  expect(
    watches.map(({ watch }) => [watch.report().store.calls, watch.report().store.outage?.lateMs]),
  ).toEqual([
    [0, 412],
    [0, undefined],
  ])
})

test('denials have their routes, their networks and their run, and clients what the application calls them', async () => {
  const limiter = createLimiter<object>({ name: 'api', policy: fixedWindow({ limit: 1, window: '1h' }) })
  const inspection = inspectionOf(limiter) as Inspection
  const label = (request: { name: string }) => request.name
  const [watch] = watchAll([{ name: 'api', limiter, inspection }], label as never, () => nowMs)
  watches.push(watch as LimiterWatch)
  const request = {
    method: 'POST',
    url: '/search?q=1',
    headers: {},
    name: 'Ada Ltd',
    socket: { remoteAddress: '203.0.113.7' },
  }
  for (let i = 0; i < 4; i++) await limiter.charge(request)
  const report = watch?.report()
  expect(report).toMatchObject({
    sinceMs: START_MS,
    run: { sinceMs: START_MS, lastMs: START_MS, risenMs: START_MS, perMinute: 3 },
    denials: {
      denied: 3,
      routes: [['POST /search', 3]],
      networks: [{ network: '203.0.113.0/24', denied: 3 }],
    },
    denied: [
      {
        identity: '203.0.113.7',
        denied: 3,
        routes: [['POST /search', 3]],
        networks: [['203.0.113.0/24', 3]],
      },
    ],
  })
  expect([...(watch?.labels() ?? [])]).toEqual([['api 203.0.113.7', 'Ada Ltd']])
  expect(watch?.takeDemands()).toMatchObject([
    {
      limitName: 'api',
      policy: { kind: 'fixed-window', limit: 1, windowMs: 3_600_000 },
      demands: [{ identity: '203.0.113.7', peaks: [4], wasDenied: true }],
    },
  ])
})

test('a blocked address counts as denied, and not as denied by a limit', async () => {
  const { limiter, watch } = watched<object>({
    key: undefined,
    policy: undefined,
    limit: 5,
    window: '1m',
    block: ['203.0.113.7'],
  } as object)
  await limiter.charge({ method: 'GET', url: '/', headers: {}, socket: { remoteAddress: '203.0.113.7' } })
  const { run, blocked, denials, denied, traffic } = watch.report()
  expect([run, denials.denied, denied, sum(allSlots(traffic).denied)]).toEqual([undefined, 0, [], 1])
  expect(blocked).toMatchObject({ perMinute: 1 })
})

test('counts whom a candidate would have denied, client by client, apart from the limit in force', async () => {
  const candidate = candidateLimits<string>({ policy: fixedWindow({ limit: 2, window: '1h' }) })
  const { limiter, watch } = watched({ candidate } as object)
  for (let i = 0; i < 7; i++) await limiter.charge('ada')
  for (let i = 0; i < 3; i++) await limiter.charge('bob')
  await limiter.charge('eve')
  const shown = watch.takeDemands().map(({ isCandidate, policy: { kind }, demands }) => {
    return [isCandidate, kind, demands.map(({ peaks, seen, wasDenied }) => [...peaks, seen, wasDenied])]
  })
  expect(shown).toEqual([
    [
      undefined,
      'fixed-window',
      [
        [7, 6, true],
        [3, 3, false],
        [1, 1, false],
      ],
    ],
    [
      true,
      'fixed-window',
      [
        [7, 3, true],
        [3, 3, true],
        [1, 1, false],
      ],
    ],
  ])
})

test('a request that another limit denies is not asked of a limit, unless that denies it also', async () => {
  const limits = [
    { name: 'burst', policy: fixedWindow({ limit: 1, window: '1h' }), key: (id: string) => id },
    { name: 'daily', policy: fixedWindow({ limit: 3, window: '1d' }), key: () => 'all' },
  ]
  const { limiter, watch } = watched<string>({ policy: undefined, key: undefined, limits } as object)
  for (let i = 0; i < 5; i++) await limiter.charge('ada')
  await limiter.charge('bob')
  await limiter.charge('eve')
  for (let i = 0; i < 5; i++) await limiter.charge('eve')
  const shown = watch.takeDemands().map(({ limitName, demands }) => {
    return [limitName, demands.map(({ peaks, wasDenied }) => [...peaks, wasDenied])]
  })
  expect(shown).toEqual([
    [
      'burst',
      [
        [5, true],
        [1, false],
        [6, true],
      ],
    ],
    ['daily', [[8, true]]],
  ])
})

test('a ban by an operator is not a denial of its limit, and the one that a limit starts is', async () => {
  const store = memoryStore()
  const banned = ban(fixedWindow({ limit: 2, window: '1h' }), { after: 1, within: '1h', for: '1h' })
  const { limiter, watch } = watched<string>({ policy: banned, store })
  await limiter.blockFor('ada', 60_000)
  for (let i = 0; i < 2; i++) await limiter.charge('ada')
  for (let i = 0; i < 9; i++) await limiter.charge('bob')
  const [limit] = watch.takeDemands()
  expect(limit?.demands.map(({ peaks, wasDenied }) => [...peaks, wasDenied])).toEqual([
    [2, false],
    [9, true],
  ])
})

test('limits of concurrency, and of any number of plans, count demands for eight limits at most', async () => {
  const { limiter, watch } = watched<number>({
    policy: (plan: number) => fixedWindow({ limit: plan, window: '1h' }),
  } as object)
  for (let plan = 1; plan <= 20; plan++) await limiter.charge(plan)
  expect(watch.takeDemands()).toHaveLength(8)
  const held = watched({ name: 'held', policy: concurrency({ limit: 3, ttl: '1m' }) })
  await held.limiter.charge('ada')
  expect(held.watch.takeDemands()).toEqual([])
})

describe('limits that the settings change', () => {
  const author = { by: 'ada', reason: 'a launch' }

  /** A limiter of 1 on settings. Returns how to change its limit, and what is taken of it. */
  function changing() {
    const store = memoryStore()
    const settings = sharedSettings(store)
    const { limiter, watch } = watched({ policy: fixedWindow({ limit: 1, window: '1h' }), store, settings })
    return {
      limiter,
      async change(limit: number, afterMs: number) {
        nowMs = START_MS + afterMs
        const now = jest.spyOn(Date, 'now').mockReturnValue(nowMs)
        await settings.change('api', { limits: { api: { limit } } }, author)
        now.mockRestore()
        watch.useChanges(await settings.changes('api'))
      },
      taken: () =>
        watch.takeDemands().map(({ policy, sinceMs, demands }) => {
          return ['limit' in policy && policy.limit, sinceMs, demands.length]
        }),
    }
  }

  test('say since when they are in force, and are told even without demands', async () => {
    const { limiter, change, taken } = changing()
    await limiter.charge('ada')
    expect(taken()).toEqual([[1, undefined, 1]])
    await change(2, 1000)
    await limiter.charge('ada')
    expect(taken()).toEqual([[2, START_MS + 1000, 1]])
    expect(taken()).toEqual([[2, START_MS + 1000, 1]]) // what is still in use goes on
  })

  test('that come back are counted apart from the time before', async () => {
    const { limiter, change, taken } = changing()
    taken()
    await limiter.charge('ada')
    await change(2, 1000)
    await limiter.charge('bob')
    await change(1, 2000)
    await limiter.charge('eve')
    expect(taken()).toEqual([
      [1, 0, 1],
      [2, START_MS + 1000, 1],
      [1, START_MS + 2000, 1],
    ])
  })

  test('are counted however often they change', async () => {
    const { limiter, change, taken } = changing()
    let last: unknown
    for (let limit = 2; limit <= 80; limit++) {
      await change(limit, limit)
      await limiter.charge('ada')
      last = taken().at(-1)
    }
    expect(last).toEqual([80, START_MS + 80, 1])
  })
})

test('follows the state of the circuit breaker', () => {
  const { limiter, watch } = watched()
  limiter.events.emit('storeState', 'open', undefined as never)
  expect(watch.report().store.state).toBe('open')
})

test('finds the written-out identities of all clients that it lists, and looks through them once', async () => {
  const { limiter, watch } = watched()
  for (const name of ['ada', 'bob']) for (let i = 0; i < 6; i++) await limiter.charge(name)
  await limiter.charge('203.0.113.7')
  const candidates = jest.spyOn(watch.inspection, 'candidateIdentities').mockReturnValue(['=eve'])
  const find = watch.writtenOut()
  const listed = ['=ada', '=bob', '=eve', '=mallory'].map(shownIdentity)
  expect([...listed, 'x'].map(find)).toEqual(['=ada', '=bob', '=eve', undefined, undefined])
  expect(candidates).toHaveBeenCalledTimes(1)
})

test('counts nothing once it has stopped', async () => {
  const store = storeThat(() => [])
  const { limiter, watch } = watched({ store })
  limiter.events.on('storeError', () => undefined)
  watch.stop()
  limiter.events.emit('storeState', 'open', undefined as never)
  publishCall(watch)
  await limiter.charge('ada')
  expect(watch.report().store).toMatchObject({ state: 'closed', calls: 0 })
  expect(['decision', 'storeState'].map((name) => limiter.events.listenerCount(name as 'decision'))).toEqual([
    0, 0,
  ])
})

describe('a board', () => {
  test('shows each limiter of one process, with the latency of its store where there were calls', async () => {
    const { limiter, watch } = watched()
    const remote = watched({ name: 'remote', store: storeThat(() => []) })
    const board = boardOf([watch, remote.watch])
    await limiter.charge('ada')
    publishCall(remote.watch)
    await board.refresh()
    expect(board.rows().map(({ store, storeState }) => [store, storeState])).toEqual([
      ['memory', 'closed'],
      ['faulty', 'closed'],
    ])
    expect(board.detail('api')?.store).toEqual({ calls: 0, failures: 0, keys: 1 })
    const { store } = board.detail('remote') ?? {}
    expect(store).toMatchObject({ calls: 1, failures: 0 })
    expect(store?.medianMs).toBeGreaterThanOrEqual(3)
    expect(store?.p99Ms).toBe(store?.medianMs)
    await board.stop()
    expect(limiter.events.listenerCount('decision')).toBe(0)
  })
})
