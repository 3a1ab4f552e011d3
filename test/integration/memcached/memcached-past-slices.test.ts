import { setTimeout as pause } from 'node:timers/promises'
import { type Store, slidingWindow } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import type { Client } from 'memjs'
import { countersOf } from '../../../src/stores/memcached/counters.js'
import { keyedPolicies, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore, forgetStore, refundStore, takeOne } from '../../support/store-calls.js'
import { connections } from './clients.js'

/** A past slice may change for one more second, which is two or three slices. */
const SLICE_MS = 400
const policy = slidingWindow({ limit: 1000, window: 10 * SLICE_MS, slices: 10 })

const { open, closeAll } = connections()
let server: MemcachedServer
let client: Client
let store: Store

beforeAll(async () => {
  server = await startMemcached({ own: true })
}, INSTALL_TIMEOUT_MS)

afterEach(() => {
  closeAll()
  jest.restoreAllMocks()
})

afterAll(() => server?.stop())

beforeEach(async () => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5) // no charge reads its counter along
  await server.command('flush_all')
  client = open(server.url)
  store = memcachedStore(client)
  await takeOne(store, 'warm-up', policy)
})

const sliceAt = (ms: number) => countersOf(policy).sliceAt(ms)

/** Waits until a slice begins. */
async function untilSlice(slice: number): Promise<void> {
  await until('the slice begins', () => sliceAt(Date.now()) >= slice, { everyMs: 5 })
}

async function readsOf(work: () => Promise<unknown>): Promise<number> {
  const reads = async () => Number(/^STAT cmd_get (\d+)/m.exec(await server.command('stats'))?.[1])
  const before = await reads()
  await work()
  return (await reads()) - before
}

test('of past slices only those of the last second are read again, however often the key is charged', async () => {
  const first = await readsOf(() => takeOne(store, 'key', policy)) // and two or three that begin within a second
  expect([12, 13]).toContain(first)
  const slice = sliceAt(Date.now())
  // Read again are those, two of the last second that are over, and the one that is not quite.
  for (let i = 0; i < 10; i++)
    expect(await readsOf(() => takeOne(store, 'key', policy))).toBeLessThanOrEqual(6)
  await untilSlice(slice + 4)
  const reads = await readsOf(async () => {
    for (let i = 0; i < 40; i++) await takeOne(store, 'key', policy)
  })
  expect(reads).toBeLessThanOrEqual(40 * 6 + 10)
  expect(await remainingOf(memcachedStore(client), policy, ['key'])).toEqual([1000 - 51])
})

test('slices of a long window that can no longer change are not read again', async () => {
  const long = slidingWindow({ limit: 1000, window: '1000d' })
  expect(await readsOf(() => takeOne(store, 'longer', long))).toBe(10)
  const reads = await readsOf(async () => {
    for (let i = 0; i < 20; i++) await takeOne(store, 'longer', long)
  })
  expect(reads).toBe(0)
})

test('a count by another process in a slice is seen up to a second after its end', async () => {
  const slice = sliceAt(Date.now()) + 1
  await untilSlice(slice)
  await takeOne(store, 'key', policy, 100)
  for (const [later, more] of [
    [1, 20],
    [2, 30],
  ] as const) {
    await untilSlice(slice + later)
    await takeOne(store, 'key', policy, 0)
    // As a process would whose clock is behind.
    await client.increment(`key:${slice}`, more, { initial: more, expires: 60 })
    await pause(20)
    expect(await remainingOf(store, policy, ['key'])).toEqual(
      await remainingOf(memcachedStore(client), policy, ['key']),
    )
  }
  expect(await remainingOf(store, policy, ['key'])).toEqual([850])
})

test('a refund or forget by this process in a past slice is seen at once', async () => {
  const { atMs } = (await chargeStore(store, [[part('key', policy, 100)]]))[0] ?? { atMs: 0 }
  await untilSlice(sliceAt(atMs) + 4)
  expect(await remainingOf(store, policy, ['key'])).toEqual([900])
  await refundStore(store, [{ ...part('key', policy, 40), takenAtMs: atMs }])
  expect(await remainingOf(store, policy, ['key'])).toEqual([940])
  await forgetStore(store, keyedPolicies(policy, 'key'))
  expect(await remainingOf(store, policy, ['key'])).toEqual([1000])
})

describe('with counts read long ago', () => {
  const long = slidingWindow({ limit: 100, window: '1000d' })

  /** Counts in slices that are over, charges, and is there so much later. */
  async function startFull(laterMs: number): Promise<Store> {
    const clock = jest.spyOn(Date, 'now')
    const startMs = Date.now()
    clock.mockImplementation(() => startMs)
    const slice = countersOf(long).sliceAt(startMs)
    await client.increment(`full:${slice - 1}`, 60, { initial: 60, expires: 0 })
    await client.increment(`full:${slice - 4}`, 39, { initial: 39, expires: 0 })
    const full = memcachedStore(client)
    await takeOne(full, 'full', long)
    clock.mockImplementation(() => startMs + laterMs)
    return full
  }

  test('an allowed charge does not read them again', async () => {
    const full = await startFull(11_000)
    await forgetStore(memcachedStore(client), keyedPolicies(long, 'full'))
    expect(await readsOf(() => takeOne(full, 'full', long))).toBe(0)
  })

  test('a denied charge reads them again, once in ten seconds', async () => {
    const full = await startFull(11_000)
    expect(await takeOne(full, 'full', long)).toMatchObject({ allowed: false })
    expect(await readsOf(() => takeOne(full, 'full', long))).toBe(0)
  })

  test.each([
    [9_000, false],
    [11_000, true],
    [-11_000, true], // by a clock that was set back
  ])('a forget by another process is seen after ten seconds: %s ms', async (laterMs, isSeen) => {
    const full = await startFull(laterMs)
    await forgetStore(memcachedStore(open(server.url)), keyedPolicies(long, 'full'))
    const verdicts = await chargeStore(full, [
      [part('full', long)],
      [part('full', long, 99)],
      [part('full', long)],
    ])
    expect(verdicts.map(({ allowed }) => allowed)).toEqual(
      isSeen ? [true, true, false] : [true, false, false],
    )
    expect(await remainingOf(memcachedStore(client), long, ['full'])).toEqual([isSeen ? 0 : 99])
  })
})

test('counts that were cached while the clock was ahead are dropped when it steps back', async () => {
  const seconds = slidingWindow({ limit: 5, window: 10_000, slices: 10 })
  const clock = jest.spyOn(Date, 'now')
  const startMs = Date.now()
  const [ahead, right] = [memcachedStore(client), memcachedStore(open(server.url))]
  clock.mockImplementation(() => startMs + 3000)
  expect(await remainingOf(ahead, seconds, ['key'])).toEqual([5])
  clock.mockImplementation(() => startMs)
  await takeOne(right, 'key', seconds, 5)
  await takeOne(ahead, 'other', seconds)
  clock.mockImplementation(() => startMs + 3000)
  expect(await takeOne(ahead, 'key', seconds)).toMatchObject({ allowed: false, remaining: 0 })
})

test.each(['forget', 'refund'] as const)(
  'a count that was read before a concurrent %s is not cached',
  async (way) => {
    const long = slidingWindow({ limit: 5, window: '1000d' })
    const past = countersOf(long).sliceAt(Date.now()) - 3
    const takenAtMs = Date.now() - 3 * 100 * 86_400_000
    for (let i = 0; i < 20; i++) {
      const key = `key-${i}`
      await client.increment(`${key}:${past}`, 5, { initial: 5, expires: 0 })
      const reading = chargeStore(store, [[part(key, long)]])
      for (let ticks = 0; ticks < 4; ticks++) await new Promise((resolve) => process.nextTick(resolve))
      if (way === 'forget') await forgetStore(store, keyedPolicies(long, key))
      else await refundStore(store, [{ ...part(key, long, 5), takenAtMs }])
      await reading
      expect(await takeOne(store, key, long)).toMatchObject({ allowed: true })
    }
  },
)

test('a refund or forget by another process in a past slice is seen by the end of the window', async () => {
  const other = memcachedStore(open(server.url))
  const { atMs } = (await chargeStore(store, [[part('key', policy, 100)]]))[0] ?? { atMs: 0 }
  const slice = sliceAt(atMs)
  await untilSlice(slice + 4)
  expect(await remainingOf(store, policy, ['key'])).toEqual([900])
  await refundStore(other, [{ ...part('key', policy, 40), takenAtMs: atMs }])
  await forgetStore(other, keyedPolicies(policy, 'key'))
  expect(await remainingOf(other, policy, ['key'])).toEqual([1000])
  expect([900, 1000]).toContain((await remainingOf(store, policy, ['key']))[0]) // never more than what was taken
  await untilSlice(slice + 11)
  expect(await remainingOf(store, policy, ['key'])).toEqual([1000])
})
