import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Decision } from 'headgate'
import { parseList } from 'structured-headers'
import { type HeaderStyle, rateLimitHeaders } from '../../../src/http/quota-headers.js'
import { nodeWriter, setAll } from '../../../src/http/response-writer.js'
import { decisionOf, denialOf, partOf } from './decisions.js'

const NEVER = Number.POSITIVE_INFINITY

function response(): ServerResponse {
  return new ServerResponse(new IncomingMessage(new Socket()))
}

/** The headers of a response that passed limiters with these decisions, in order. */
function headersAfter(style: HeaderStyle, ...decisions: Decision[]) {
  const res = response()
  const settings = { style, reset: 'delta-seconds', writer: nodeWriter } as const
  decisions.forEach((decision, i) => {
    setAll(res, rateLimitHeaders(settings, res, decision, i === 0))
  })
  return res.getHeaders()
}

const LEGACY = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
const DRAFT = ['ratelimit-policy', 'ratelimit']

const loose = decisionOf(partOf({ name: 'loose', limit: 100, remaining: 90, resetAfterMs: 6000 }))
const tight = decisionOf(partOf({ name: 'tight', limit: 5, remaining: 2, resetAfterMs: 30_000 }))

test.each<[HeaderStyle, string[]]>([
  ['legacy', LEGACY],
  ['draft', DRAFT],
  ['both', [...LEGACY, ...DRAFT]],
  ['none', []],
])('the style %s sets just its headers', (style, names) => {
  expect(Object.keys(headersAfter(style, loose))).toEqual(names)
})

test('a decision without a store sets nothing', () => {
  expect(headersAfter('both', { ...loose, parts: [], source: 'fail-open' })).toEqual({})
})

test('an epoch reset is now plus the time until the reset', () => {
  const res = response()
  jest.spyOn(Date, 'now').mockReturnValue(1_790_000_000_500)
  setAll(
    res,
    rateLimitHeaders({ style: 'legacy', reset: 'epoch-seconds', writer: nodeWriter }, res, loose, true),
  )
  jest.restoreAllMocks()
  expect(res.getHeader('X-RateLimit-Reset')).toBe('1790000007')
})

test.each([
  ['the first', [tight, loose]],
  ['the last', [loose, tight]],
  ['the middle', [loose, tight, loose]],
])('legacy headers show the limiter nearest to exhaustion when it is %s', (_which, decisions) => {
  expect(headersAfter('legacy', ...decisions)).toMatchObject({
    'x-ratelimit-limit': '5',
    'x-ratelimit-remaining': '2',
    'x-ratelimit-reset': '30',
  })
})

test('legacy headers of an earlier limiter with as much left stay', () => {
  const other = decisionOf(partOf({ limit: 7, remaining: 2 }))
  expect(headersAfter('legacy', tight, other)).toMatchObject({ 'x-ratelimit-limit': '5' })
})

test('legacy headers of an earlier limiter stay whole beside a limiter that sends only those of the draft', () => {
  const res = response()
  setAll(
    res,
    rateLimitHeaders({ style: 'legacy', reset: 'delta-seconds', writer: nodeWriter }, res, loose, true),
  )
  setAll(
    res,
    rateLimitHeaders({ style: 'draft', reset: 'delta-seconds', writer: nodeWriter }, res, tight, false),
  )
  expect(res.getHeaders()).toMatchObject({ 'x-ratelimit-limit': '100', 'x-ratelimit-reset': '6' })
})

test('legacy headers show the limiter that denies, also with more left than an earlier one', () => {
  const denied = denialOf(1000, { limit: 10, remaining: 3, cost: 5, resetAfterMs: 7000 })
  expect(headersAfter('legacy', tight, denied)).toMatchObject({
    'x-ratelimit-limit': '10',
    'x-ratelimit-remaining': '3',
    'x-ratelimit-reset': '7',
  })
})

test('the reset of one limiter is never shown beside the figures of another that has none', () => {
  const inARow = decisionOf(partOf({ limit: 3, remaining: 1, resetAfterMs: NEVER }))
  const headers = { 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '1' }
  expect(headersAfter('legacy', inARow)).toEqual(headers)
  expect(headersAfter('legacy', loose, inARow)).toEqual(headers)
})

test('draft headers of several limiters merge into one valid list', () => {
  const headers = headersAfter('draft', loose, tight)
  const names = DRAFT.map((header) => parseList(headers[header] as string).map(([name]) => name))
  expect(names).toEqual([
    ['loose', 'tight'],
    ['loose', 'tight'],
  ])
})

test('draft headers are appended to those that a handler has set', () => {
  const res = response()
  res.setHeader('RateLimit', ['"a";r=1', '"b";r=2'])
  setAll(
    res,
    rateLimitHeaders({ style: 'draft', reset: 'delta-seconds', writer: nodeWriter }, res, tight, false),
  )
  const names = parseList(res.getHeader('RateLimit') as string).map(([name]) => name)
  expect(names).toEqual(['a', 'b', 'tight'])
})
