import {
  BLOCKED,
  denialBody,
  OVER_LIMIT,
  REDUCED_CAPACITY,
  readMessage,
} from '../../../src/http/denial-body.js'
import { decisionOf, denialOf, partOf } from './decisions.js'

const PROBLEM = 'application/problem+json'
const TEXT = 'text/plain; charset=utf-8'
const CHROME =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,' +
  'application/signed-exchange;v=b3;q=0.7'

const limited = (accept?: string) => denialBody(OVER_LIMIT, 429, denialOf(1500), accept)

test.each<[string | undefined, string]>([
  [undefined, TEXT],
  ['', TEXT],
  ['*/*', TEXT],
  ['text/*', TEXT],
  ['text/html', TEXT],
  ['text/plain', TEXT],
  ['image/png', TEXT],
  [CHROME, TEXT],
  ['application/json', PROBLEM],
  ['APPLICATION/JSON', PROBLEM],
  ['application/problem+json', PROBLEM],
  ['application/json; charset=utf-8', PROBLEM],
  ['application/*', PROBLEM],
  ['application/json, text/plain, */*', PROBLEM],
  ['application/json, text/javascript, */*; q=0.01', PROBLEM],
  ['application/json, */*;q=0.5', PROBLEM],
  ['text/html, application/json', PROBLEM],
  ['text/plain;q=0.5, application/json', PROBLEM],
  ['text/plain, application/json;q=0.5', TEXT],
  ['*/*, application/json;q=0.1', TEXT],
  ['application/json;q=0', TEXT],
  ['application/json;q=0, */*', TEXT],
  ['application/*;q=0.1', PROBLEM],
  ['text/html;q=0.9, application/*;q=0.8', PROBLEM],
  ['application/json;q=nonsense', TEXT],
  ['json', TEXT],
  ['/json', TEXT],
  ['application/', TEXT],
  ['application/jsonp', TEXT],
  [',,,;;;q=q=q', TEXT],
  ['application/json\u0000', TEXT],
])('a client that accepts %j gets %s', (accept, contentType) => {
  expect(limited(accept).contentType).toBe(contentType)
})

describe('an Accept header', () => {
  /** As long as said: a client that prefers JSON, with media ranges that each cost time. */
  const acceptOf = (length: number) => `application/json${',*/*'.repeat(length)}`.slice(0, length)

  test('of 300 characters is read', () => {
    expect(limited(acceptOf(300)).contentType).toBe(PROBLEM)
  })

  test('of a browser gets text', () => {
    expect(limited(CHROME).contentType).toBe(TEXT)
  })

  test.each([
    ['301 characters', acceptOf(301)],
    ['15.5 KB, as much as Node.js lets through', acceptOf(15_500)],
    ['100 KB of commas', `application/json${','.repeat(100_000)}`],
    ['100 KB of types', 'application/json;q=0.1,'.repeat(4500)],
    ['100 KB of parameters', `application/json${';a=b'.repeat(25_000)}`],
    ['100 KB of quotes', `application/json;a="${'"'.repeat(100_000)}`],
    ['100 KB of open quotes and commas', `application/json;a="${',"'.repeat(50_000)}`],
    ['100 KB of blanks', `application/json${' '.repeat(100_000)}x`],
    ['100 KB of slashes', `json${'/'.repeat(100_000)}`],
  ])('of %s gets text', (_what, accept) => {
    expect(limited(accept).contentType).toBe(TEXT)
  })
})

test('a problem document holds the type, the status, the time to retry and the policies', () => {
  expect(JSON.parse(limited('application/json').body)).toEqual({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Too many requests',
    status: 429,
    detail: 'Try again in 2 seconds.',
    'violated-policies': ['api'],
  })
})

test('a text body is one line', () => {
  expect(limited().body).toBe('Too many requests. Try again in 2 seconds.\n')
})

test('only the policies that denied are violated, in order', () => {
  const decision = decisionOf(
    partOf({ name: 'a', allowed: false, retryAfterMs: 10 }),
    partOf({ name: 'b' }),
    partOf({ name: 'c', allowed: false, retryAfterMs: 20 }),
  )
  const { body: text } = denialBody(OVER_LIMIT, 429, decision, 'application/json')
  expect(JSON.parse(text)['violated-policies']).toEqual(['a', 'c'])
})

test.each([
  [0.25, 'Try again in 1 second.'],
  [1000, 'Try again in 1 second.'],
  [1001, 'Try again in 2 seconds.'],
  [60_000, 'Try again in 60 seconds.'],
])('a retry after %d ms is advised as "%s"', (retryAfterMs, detail) => {
  const decision = denialOf(retryAfterMs)
  expect(denialBody(OVER_LIMIT, 429, decision, undefined).body).toBe(`Too many requests. ${detail}\n`)
  expect(JSON.parse(denialBody(OVER_LIMIT, 429, decision, 'application/json').body).detail).toBe(detail)
})

test('a body without a time to retry advises against a retry', () => {
  const never = denialOf(Number.POSITIVE_INFINITY)
  expect(denialBody(OVER_LIMIT, 403, never, undefined).body).toBe('Over the limit. Waiting will not help.\n')
  const problem = JSON.parse(denialBody(OVER_LIMIT, 403, never, 'application/json').body)
  expect(problem).toMatchObject({ title: 'Over the limit', detail: 'Waiting will not help.' })
})

test('the status in the body is the real one', () => {
  for (const status of [429, 420, 503]) {
    const { body: text } = denialBody(OVER_LIMIT, status, denialOf(1000), 'application/json')
    expect(JSON.parse(text).status).toBe(status)
  }
})

test('the body for a failed store is reduced capacity, without policies', () => {
  const closed = { ...denialOf(1000), parts: [], source: 'fail-closed' as const }
  expect(JSON.parse(denialBody(REDUCED_CAPACITY, 503, closed, 'application/json').body)).toEqual({
    type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
    title: 'Service temporarily unavailable',
    status: 503,
    detail: 'Try again in 1 second.',
  })
  const text = 'Service temporarily unavailable. Try again in 1 second.\n'
  expect(denialBody(REDUCED_CAPACITY, 503, closed, undefined).body).toBe(text)
})

test('the body for a blocked address says no more than the status', () => {
  expect(denialBody(BLOCKED, 403, undefined, undefined)).toEqual({
    contentType: TEXT,
    body: 'Forbidden.\n',
  })
  const { body: text } = denialBody(BLOCKED, 403, undefined, 'application/json')
  expect(JSON.parse(text)).toEqual({ type: 'about:blank', title: 'Forbidden', status: 403 })
})

test('a string as the option message is sent as plain text, anything else as JSON', () => {
  const json = 'application/json; charset=utf-8'
  const read = (message: unknown) => readMessage('rateLimit', 'message', message)
  expect(read('Slow down.')).toEqual({ contentType: TEXT, body: 'Slow down.' })
  expect(read('')).toEqual({ contentType: TEXT, body: '' })
  expect(read({ error: 'slow' })).toEqual({ contentType: json, body: '{"error":"slow"}' })
  expect(read([])).toEqual({ contentType: json, body: '[]' })
})
