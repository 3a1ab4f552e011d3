import { fixedWindow } from 'headgate'
import { DenialCache } from '../../../src/pipe/denial-cache.js'

const policy = fixedWindow({ limit: 3, window: '1m' })
const partOf = (key: string) => ({ key, policy, cost: 1 })

beforeEach(() => jest.useFakeTimers({ now: 1_790_000_000_000 }))
afterEach(() => jest.useRealTimers())

/** Lets a store with this clock deny a charge of a key until `endMs`. */
function deny(
  cache: DenialCache,
  key: string,
  clock: () => number,
  endMs: number,
  delays: [number, number],
): void {
  const sentAtMs = performance.now()
  jest.advanceTimersByTime(delays[0])
  const atMs = clock()
  const waitMs = endMs - atMs
  const times = { resetAfterMs: waitMs, retryAfterMs: waitMs, moreAfterMs: waitMs }
  jest.advanceTimersByTime(delays[1])
  cache.record(
    [partOf(key)],
    { type: 'charge', allowed: false, atMs, parts: [{ allowed: false, remaining: 0, ...times }] },
    sentAtMs,
  )
}

test('limits that end together still do so in the cache, however long each reply took', () => {
  const cache = new DenialCache()
  const endMs = Date.now() + 30_000
  deny(cache, 'slow', Date.now, endMs, [40, 40])
  deny(cache, 'fast', Date.now, endMs, [1, 1])
  deny(cache, 'later', Date.now, endMs + 1, [25, 3])
  jest.advanceTimersByTime(1000)
  const found = cache.find(['slow', 'fast', 'later'].map(partOf), 60_000)
  const waitMs = endMs - Date.now()
  expect(found?.parts.map(({ retryAfterMs }) => retryAfterMs)).toEqual([waitMs - 1, waitMs - 1, waitMs])
  expect(found?.atMs).toBe(Date.now() + 1)
})

test('limits on servers whose clocks differ each end by their own', () => {
  const cache = new DenialCache()
  const ahead = () => Date.now() + 60_000
  deny(cache, 'one', Date.now, Date.now() + 20_000, [5, 5])
  deny(cache, 'other', ahead, ahead() + 20_000, [5, 5])
  const found = cache.find(['one', 'other'].map(partOf), 60_000)
  expect(found?.parts.map(({ retryAfterMs }) => retryAfterMs)).toEqual([19_975, 19_985])
})
