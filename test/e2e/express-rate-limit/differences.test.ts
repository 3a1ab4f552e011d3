import * as original from 'express-rate-limit'
import * as ours from 'headgate/express-rate-limit'
import { closeServers, type Sent, times } from '../../support/http.js'
import { both, ORIGINAL, OURS } from './side-by-side.js'

afterEach(closeServers)

const from = (address: string): Sent => ({ headers: { 'x-forwarded-for': address } })
const statusesOf = (answers: readonly object[]) =>
  answers.map((answer) => 'status' in answer && answer.status)

test('each export of express-rate-limit has its like here', () => {
  const kindOf = (value: unknown) => (typeof value === 'number' ? value : typeof value)
  const kinds = (exports: object) =>
    Object.fromEntries(Object.entries(exports).map(([name, each]) => [name, kindOf(each)]))
  expect(Object.keys(original)).toContain('MemoryStore')
  expect(kinds(ours)).toMatchObject(kinds(original))
})

test.each([
  ['NAT64', '64:ff9b::203.0.113.7', '64:ff9b::203.0.113.8'],
  ['6to4', '2002:cb00:7107::1', '2002:cb00:7108::1'],
  ['Teredo', '2001:0:4136:e378:8000:63bf:34ff:8ef8', '2001:0:4136:e378:8000:63bf:34ff:8ef7'],
])('two IPv4 clients behind %s are two clients here', async (_name, first, second) => {
  const { ours } = await both(
    () => ({ limit: 1, standardHeaders: 'draft-8' }),
    [first, second, first].map(from),
  )
  expect(statusesOf(ours.answers)).toEqual([200, 200, 429])
})

test.each([
  ['NAT64', '64:ff9b::203.0.113.7', '64:ff9b::203.0.113.8'],
  ['Teredo', '2001:0:4136:e378:8000:63bf:34ff:8ef8', '2001:0:4136:e378:8000:63bf:34ff:8ef7'],
])('they share the network of %s in express-rate-limit', async (_name, first, second) => {
  const { original } = await both(() => ({ limit: 1 }), [first, second].map(from))
  expect(statusesOf(original.answers)).toEqual([200, 429])
})

test('one client behind 6to4 is many clients in express-rate-limit', async () => {
  const sent = ['2002:cb00:7107::1', '2002:cb00:7107:100::1', '2002:cb00:7107:200::1'].map(from)
  const { original, ours } = await both(() => ({ limit: 1 }), sent)
  expect(statusesOf(original.answers)).toEqual([200, 200, 200])
  expect(statusesOf(ours.answers)).toEqual([200, 429, 429])
})

test('a number that would let everybody in is an error here', () => {
  expect(() => OURS.rateLimit({ limit: Number.NaN })).toThrow(
    'rateLimit: limit must be a number, or a function that returns one, got NaN.',
  )
  expect(() => ORIGINAL.rateLimit({ limit: Number.NaN })).not.toThrow()
})

test.each([0, -1, Number.NaN, '15m', Number.POSITIVE_INFINITY])(
  'a window of %p is an error here',
  (windowMs) => {
    const options = { windowMs: windowMs as number, logger: { error() {}, warn() {} } }
    expect(() => OURS.rateLimit(options)).toThrow(
      /^rateLimit: windowMs must be a number of milliseconds above 0/,
    )
  },
)

test('windowMs as text is logged by both packages, and counts here', async () => {
  const make = () => ({ limit: 1, windowMs: '60000' as unknown as number })
  const { original, ours } = await both(make, times(2))
  expect(original.log).toEqual(['error ERR_ERL_WINDOW_MS'])
  expect(ours.log).toEqual(original.log)
  const headersOf = (answers: readonly object[]) => (answers[1] as { headers: object }).headers
  expect(headersOf(original.answers)).toMatchObject({ 'retry-after': 'NaN', 'x-ratelimit-reset': 'NaN' })
  expect(headersOf(ours.answers)).toMatchObject({ 'retry-after': '<reset>', 'x-ratelimit-reset': '<reset>' })
  expect(statusesOf(ours.answers)).toEqual([200, 429])
})

test('a window of more than 24.8 days works here', async () => {
  const windowMs = 40 * 24 * 3600 * 1000
  const { ours } = await both(
    ({ MemoryStore }) => (MemoryStore === OURS.MemoryStore ? { windowMs, limit: 1 } : {}),
    times(2),
    windowMs,
  )
  expect(statusesOf(ours.answers)).toEqual([200, 429])
  expect(ours.log).toEqual([])
})

test('a fraction of a millisecond is rounded up here', async () => {
  const { original, ours } = await both(() => ({ windowMs: 60_000.4, limit: 1 }), times(2), 61_000)
  expect(statusesOf(ours.answers)).toEqual(statusesOf(original.answers))
})

test('with both skips, requestWasSuccessful runs once here', async () => {
  let calls = 0
  const requestWasSuccessful = () => ++calls > 0
  await both(
    ({ MemoryStore }) =>
      MemoryStore === OURS.MemoryStore
        ? { skipFailedRequests: true, skipSuccessfulRequests: true, requestWasSuccessful }
        : {},
    times(1),
  )
  expect(calls).toBe(1)
})
