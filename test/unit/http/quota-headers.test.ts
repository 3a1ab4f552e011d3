import * as fc from 'fast-check'
import { consecutive, type Decision, fixedWindow, rateLimit, slidingWindow, tokenBucket } from 'headgate'
import { type BareItem, parseList } from 'structured-headers'
import { denialHeaders, draftHeaders, legacyHeaders, wholeSeconds } from '../../../src/http/quota-headers.js'
import { decisionOf, denialOf, headerEntries, partOf } from './decisions.js'

const NOW_MS = 1_790_000_000_123

const legacy = (decision: Decision, reset: 'epoch-seconds' | 'delta-seconds' = 'delta-seconds') =>
  Object.fromEntries(headerEntries(legacyHeaders(decision, NOW_MS, reset)))

/** A draft header, read back by a parser of structured fields: each item's name and parameters. */
function parseHeader(header: 'RateLimit' | 'RateLimit-Policy', decision: Decision): [BareItem, object][] {
  const value = Object.fromEntries(headerEntries(draftHeaders(decision)))[header] as string
  return parseList(value).map(([name, parameters]) => [name as BareItem, Object.fromEntries(parameters)])
}

test('legacy headers hold the limit, what remains, and when the whole quota is back', () => {
  expect(legacy(decisionOf(partOf()))).toEqual({
    'X-RateLimit-Limit': '100',
    'X-RateLimit-Remaining': '42',
    'X-RateLimit-Reset': '35',
  })
})

test.each([
  [0, '0', '1790000001'],
  [0.25, '1', '1790000001'],
  [1, '1', '1790000001'],
  [877, '1', '1790000001'],
  [878, '1', '1790000002'],
  [999.9, '1', '1790000002'],
  [1000, '1', '1790000002'],
  [1000.25, '2', '1790000002'],
  [34_560_000_000, '34560000', '1824560001'],
])('a reset after %d ms is rounded up: in %s s, at %s', (resetAfterMs, delta, epoch) => {
  const decision = decisionOf(partOf({ resetAfterMs }))
  expect(legacy(decision, 'delta-seconds')['X-RateLimit-Reset']).toBe(delta)
  expect(legacy(decision, 'epoch-seconds')['X-RateLimit-Reset']).toBe(epoch)
})

test.each(['epoch-seconds', 'delta-seconds'] as const)(
  'there is no reset in %s if time restores nothing',
  (as) => {
    const decision = decisionOf(partOf({ resetAfterMs: Number.POSITIVE_INFINITY }))
    expect(legacy(decision, as)).toEqual({ 'X-RateLimit-Limit': '100', 'X-RateLimit-Remaining': '42' })
  },
)

test('draft headers of one limit are two lists of one item', () => {
  expect(headerEntries(draftHeaders(decisionOf(partOf())))).toEqual([
    ['RateLimit-Policy', '"api";q=100;w=60'],
    ['RateLimit', '"api";r=42;t=1'],
  ])
})

test('draft headers have an item for each limit, in order', () => {
  const decision = decisionOf(
    partOf({ name: 'burst' }),
    partOf({ name: 'daily', limit: 1000, windowMs: 86_400_000, remaining: 7, moreAfterMs: 86_400 }),
  )
  expect(parseHeader('RateLimit-Policy', decision)).toEqual([
    ['burst', { q: 100, w: 60 }],
    ['daily', { q: 1000, w: 86_400 }],
  ])
  expect(parseHeader('RateLimit', decision)).toEqual([
    ['burst', { r: 42, t: 1 }],
    ['daily', { r: 7, t: 87 }],
  ])
})

test('a limit on requests in flight has its own quota unit, and no time', () => {
  const never = Number.POSITIVE_INFINITY
  const figures = { windowMs: never, resetAfterMs: never, moreAfterMs: never }
  const decision = decisionOf(
    partOf({ name: '50-at-once', limit: 50, ...figures, quotaUnit: 'concurrent-requests' }),
    partOf(),
  )
  expect(headerEntries(draftHeaders(decision))).toEqual([
    ['RateLimit-Policy', '"50-at-once";q=50;qu="concurrent-requests", "api";q=100;w=60'],
    ['RateLimit', '"50-at-once";r=42, "api";r=42;t=1'],
  ])
  expect(legacy(decision)).toEqual({ 'X-RateLimit-Limit': '50', 'X-RateLimit-Remaining': '42' })
})

test('draft headers leave out a window and a time that are infinite', () => {
  const forever = { windowMs: Number.POSITIVE_INFINITY, moreAfterMs: Number.POSITIVE_INFINITY }
  const decision = decisionOf(partOf({ name: '5-in-a-row', limit: 5, remaining: 0, ...forever }), partOf())
  expect(parseHeader('RateLimit-Policy', decision)).toEqual([
    ['5-in-a-row', { q: 5 }],
    ['api', { q: 100, w: 60 }],
  ])
  expect(parseHeader('RateLimit', decision)).toEqual([
    ['5-in-a-row', { r: 0 }],
    ['api', { r: 42, t: 1 }],
  ])
})

test.each([
  [0, 0],
  [0.25, 1],
  [999, 1],
  [1000, 1],
  [1001, 2],
])('the parameter t for %d ms until more quota is %d', (moreAfterMs, t) => {
  expect(parseHeader('RateLimit', decisionOf(partOf({ moreAfterMs })))).toEqual([['api', { r: 42, t }]])
})

test('a window below one second is w=1, since w must be above 0', () => {
  expect(parseHeader('RateLimit-Policy', decisionOf(partOf({ windowMs: 1 })))).toEqual([
    ['api', { q: 100, w: 1 }],
  ])
})

test('the parameter t is the time until more quota, not until all of it', () => {
  const decision = decisionOf(partOf({ moreAfterMs: 1000, resetAfterMs: 60_000 }))
  expect(parseHeader('RateLimit', decision)).toEqual([['api', { r: 42, t: 1 }]])
})

test('draft headers of every policy are valid lists of whole numbers, whatever was taken', () => {
  const limits = fc.integer({ min: 1, max: 100_000 })
  const policies = limits.map((limit) => [
    tokenBucket({ capacity: limit, refill: 3, every: '1h' }),
    slidingWindow({ limit, window: '1500ms' }),
    fixedWindow({ limit, window: '400d' }),
    consecutive({ limit }),
  ])
  fc.assert(
    fc.property(policies, fc.nat(200_000), (some, cost) => {
      const parts = some.map((policy) => {
        const { name, limit, windowMs } = policy
        return { name, limit, windowMs, cost, ...policy.take(undefined, NOW_MS, cost) }
      })
      for (const header of ['RateLimit-Policy', 'RateLimit'] as const) {
        const items = parseHeader(header, decisionOf(...parts))
        expect(items.map(([name]) => name)).toEqual(some.map(({ name }) => name))
        const numbers = items.flatMap(([, parameters]) => Object.values(parameters))
        expect(numbers.every((n) => Number.isSafeInteger(n) && n >= 0)).toBe(true)
      }
    }),
  )
})

test('the largest limit that is possible makes valid draft headers', () => {
  const { limit } = fixedWindow({ limit: Number.MAX_SAFE_INTEGER, window: '1m' })
  const decision = decisionOf(partOf({ limit, remaining: limit }))
  expect(parseHeader('RateLimit-Policy', decision)).toHaveLength(1) // integers of at most 15 digits: RFC 9651 §3.3.1
  expect(parseHeader('RateLimit', decision)).toHaveLength(1)
})

test.each(['a"b', 'a\\b', 'ä', 'a b', 'a,b', 'a;q=1', '', 'x'.repeat(65)])(
  'a name that would need escaping is refused when the limiter is made: %j',
  (name) => {
    expect(() => rateLimit({ limit: 1, window: '1m', name })).toThrow(TypeError)
    expect(() => fixedWindow({ limit: 1, window: '1m', name })).toThrow(TypeError)
  },
)

test.each([
  [0.25, '1'],
  [1, '1'],
  [999, '1'],
  [1000, '1'],
  [1000.01, '2'],
  [1999, '2'],
  [34_560_000_000, '34560000'],
])('Retry-After for %d ms is %s whole seconds, rounded up', (retryAfterMs, seconds) => {
  const headers = Object.fromEntries(headerEntries(denialHeaders(denialOf(retryAfterMs))))
  expect(headers).toEqual({ 'Cache-Control': 'no-store', 'Retry-After': seconds })
})

test.each([
  [1000.0002, 1], // a rounding error of doubles at today's time, not a longer wait
  [1000.001, 2],
  [0, 0],
  [0.0002, 0],
  [0.001, 1],
])('a wait of %d ms is %d whole seconds: less than half a microsecond is none', (durationMs, seconds) => {
  expect(wholeSeconds(durationMs)).toBe(seconds)
})

test('there is no Retry-After if waiting never helps, and still no cache keeps the answer', () => {
  const headers = Object.fromEntries(headerEntries(denialHeaders(denialOf(Number.POSITIVE_INFINITY))))
  expect(headers).toEqual({ 'Cache-Control': 'no-store' })
})
