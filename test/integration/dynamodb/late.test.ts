import { fixedWindow, type Policy, slidingLog, slidingWindow, tokenBucket } from 'headgate'
import { manualClock } from 'headgate/testing'
import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import { intercepted, metered } from './clients.js'
import { resetAtMs } from './expiries.js'
import { newKey, type Tables, useDynalite } from './use-dynalite.js'

const tables = useDynalite()

const entriesOf = async (key: string) => (await tables.item(key))?.log?.L?.length ?? 0

/** A client that keeps requests back until they are let go, as when a function is frozen before it sends one. */
function freezing({ client }: Tables) {
  const held: (() => void)[] = []
  const frozen = intercepted(client, async ({ send }) => {
    await new Promise<void>((resolve) => held.push(resolve))
    return send()
  })
  return { client: frozen, held }
}

const POLICIES: readonly [string, (window: string) => Policy][] = [
  ['slidingLog', (window) => slidingLog({ limit: 5, window })],
  ['tokenBucket', (every) => tokenBucket({ capacity: 5, refill: 5, every })],
  [
    'fixedWindow from the first request',
    (window) => fixedWindow({ limit: 5, window, startsAt: 'first-request' }),
  ],
]

describe.each([
  [0, 9],
  [15, 9],
  [15, 30],
])(
  'after %i denials, a charge that arrives %i seconds late frees nothing that was taken since',
  (more, lateS) => {
    test.each(POLICIES)('%s', async (_, policyOf) => {
      const clock = manualClock()
      const store = tables.store(tables.client, clock)
      const five = policyOf(`${lateS + 1}s`)
      const frozen = freezing(tables)
      const key = newKey()
      const late = chargeOne(tables.store(frozen.client, clock), part(key, five))
      while (frozen.held.length === 0) await new Promise(setImmediate)
      await clock.advance(1000 * lateS)
      for (let i = 0; i < 5 + more; i++)
        expect(await chargeOne(store, part(key, five))).toMatchObject({ allowed: i < 5 })
      while (more > 0 && (await entriesOf(key)) > 0) await new Promise(setImmediate) // until the log is emptied
      let isLate = true
      const done = late.finally(() => {
        isLate = false
      })
      while (isLate) {
        frozen.held.shift()?.()
        await new Promise(setImmediate)
      }
      expect(await done).toMatchObject({ allowed: false })
      await clock.advance(1500)
      expect(await chargeOne(store, part(key, five))).toMatchObject({ allowed: false })
    })
  },
)

test('processes whose requests take 5 seconds decide with one request each, while others charge the key', async () => {
  const clock = manualClock()
  const used = slidingWindow({ limit: 50, window: '1000d' })
  const key = newKey()
  const fast = tables.store(tables.client, clock)
  const slow = intercepted(tables.client, async ({ send }) => {
    await clock.advance(5000)
    await chargeOne(fast, part(key, used))
    return send()
  })
  const { client, costs } = metered(slow)
  for (let i = 0; i < 9; i++) {
    const { allowed, parts } = await chargeOne(tables.store(client, clock), part(key, used))
    expect({ allowed, remaining: parts[0]?.remaining }).toEqual({ allowed: true, remaining: 48 - 2 * i })
  }
  expect(costs.requests).toEqual({ update: 9 })
})

describe.each(POLICIES)('charges that each come 9 seconds later than the one before: %s', (_, policyOf) => {
  test.each([1, 25])('let no item expire before its state, when %i come at a time', async (times) => {
    const used = policyOf('10m')
    const key = newKey()
    const startMs = Date.UTC(2030, 0, 1) + 45_000
    const firsts: number[] = []
    for (let i = 0; i < 30; i++) {
      const late = tables.store(tables.client, () => startMs - 9000 * i)
      await late.apply(Array.from({ length: times }, () => ({ type: 'charge', parts: [part(key, used)] })))
      const item = (await tables.item(key)) ?? {}
      const expiresMs = 1000 * Number(item.expires?.N)
      expect(expiresMs).toBeGreaterThanOrEqual(resetAtMs(item, key, used))
      if (i <= 6) firsts.push(expiresMs) // within 10 seconds of the item's minute
    }
    expect(new Set(firsts).size).toBe(1)
    expect(firsts[0]).toBeGreaterThanOrEqual(startMs + 600_000)
  })
})

test.each([
  ['the minute has ended since', 59_000, 2],
  ['the minute goes on', 1000, 1],
])('a charge that is 5 seconds late takes as many requests as it must: %s', async (_, sinceMs, requests) => {
  const startMs = Date.UTC(2030, 0, 1)
  const { client, costs } = metered(tables.client)
  const key = newKey()
  const used = slidingLog({ limit: 5, window: '10m' })
  await chargeOne(
    tables.store(tables.client, () => startMs + sinceMs + 5000),
    part(key, used),
  )
  const before = await tables.item(key)
  expect(
    await chargeOne(
      tables.store(client, () => startMs + sinceMs),
      part(key, used),
    ),
  ).toMatchObject({ allowed: true, atMs: startMs + sinceMs + 5000, parts: [{ remaining: 3 }] })
  expect(costs.requests).toEqual({ update: requests })
  const after = await tables.item(key)
  expect([after?.expires, after?.at]).toEqual([before?.expires, before?.at])
})

test.each([900, 9000])(
  'processes whose clocks differ by %i ms share a log, and charges among them free nothing',
  async (apartMs) => {
    const { client, costs } = metered(tables.client)
    const startMs = Date.UTC(2030, 0, 1)
    let elapsedMs = 0
    const stores = [0, apartMs, apartMs / 2].map((aheadMs) =>
      tables.store(client, () => startMs + elapsedMs + aheadMs),
    )
    const used = slidingLog({ limit: 8, window: '20s' })
    const key = newKey()
    let allowed = 0
    for (let i = 0; i < 42; i++, elapsedMs += 100)
      if ((await chargeOne(stores[i % 3] as (typeof stores)[0], part(key, used))).allowed) allowed++
    expect(allowed).toBe(8)
    while ((costs.requests.update ?? 0) < 42 + 2) await new Promise(setImmediate)
    expect(costs.requests).toEqual({ update: 42 + 2 })
  },
)

test('a clock that was an hour ahead locks no client out', async () => {
  const clock = manualClock()
  const wrong = tables.store(tables.client, () => clock() + 3_600_000)
  const store = tables.store(tables.client, clock)
  const used = slidingLog({ limit: 5, window: '10s' })
  const key = newKey()
  await chargeOne(wrong, part(key, used, 5))
  expect(await chargeOne(store, part(key, used))).toMatchObject({ allowed: false })
  await clock.advance('10s')
  expect(await chargeOne(store, part(key, used))).toMatchObject({ allowed: true })
})
