import { createLimiter, type Decision, responseFor, tokenBucket } from 'headgate'
import type { ResponseOptions } from '../../../src/http/denial-response.js'
import { unchargedDecision } from '../../../src/limiter/decision.js'
import { chargeNow } from '../../support/charge-now.js'

const JSON_FIRST = 'application/json'

function decide(options: object = {}): { allowed: Decision; denied: Decision } {
  const limiter = createLimiter({ limit: 1, window: '10s', key: () => 'ada', ...options })
  return {
    allowed: chargeNow(limiter, { ip: '192.0.2.7' }),
    denied: chargeNow(limiter, { ip: '192.0.2.7' }),
  }
}

test('an allowed decision has headers, and neither status nor body', () => {
  const response = responseFor(decide().allowed, { resetFormat: 'delta-seconds' })
  expect(response).toEqual({
    status: undefined,
    headers: { 'X-RateLimit-Limit': '1', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '10' },
    body: undefined,
  })
})

test('a denial has the status, the headers and the body of the middleware', () => {
  const response = responseFor(decide().denied, { resetFormat: 'delta-seconds' })
  expect(response).toEqual({
    status: 429,
    headers: {
      'X-RateLimit-Limit': '1',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '10',
      'Cache-Control': 'no-store',
      'Retry-After': '10',
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Length': '44',
    },
    body: 'Too many requests. Try again in 10 seconds.\n',
  })
})

test('a client that prefers JSON is answered a problem document', () => {
  const policy = tokenBucket({ capacity: 1, refill: 1, every: '10s', name: 'plan' })
  const { denied } = decide({ limit: undefined, window: undefined, policy, name: 'api' })
  const { headers, body = '' } = responseFor(denied, { accept: JSON_FIRST, headers: 'draft' })
  expect(headers).toMatchObject({ 'Content-Type': 'application/problem+json', RateLimit: '"api";r=0;t=10' })
  expect(JSON.parse(body)).toMatchObject({ status: 429, 'violated-policies': ['api'] })
})

test.each<[string, Decision, number | undefined, object]>([
  ['a blocked address', unchargedDecision('blocked'), 403, { 'Content-Length': '11' }],
  [
    'a store that failed',
    unchargedDecision('fail-closed'),
    503,
    { 'Retry-After': '1', 'Cache-Control': 'no-store' },
  ],
  ['a store that failed, and lets requests through', unchargedDecision('fail-open'), undefined, {}],
  ['no limit', unchargedDecision('none'), undefined, {}],
])('%s has no quota headers', (_what, decision, status, headers) => {
  const response = responseFor(decision, { headers: 'both', statusCode: 420, message: 'Slow down.' })
  expect(response.status).toBe(status)
  expect(response.headers).toMatchObject(headers)
  expect(Object.keys(response.headers).filter((name) => /RateLimit/.test(name))).toEqual([])
})

test('the Accept header may be null, as a Headers object returns it', () => {
  const accept = new Headers().get('accept')
  expect(responseFor(decide().denied, { accept }).headers['Content-Type']).toMatch(/^text\/plain/)
})

test.each<[string, unknown, string]>([
  ['a promise', Promise.resolve(decide().allowed), 'got a promise. Write responseFor(await decision).'],
  ['undefined', undefined, 'got undefined.'],
  ['an object', { allowed: true }, 'got an object.'],
])('what is no decision fails: %s', (_what, decision, message) => {
  const error = `responseFor: decision must be a decision of a limiter, ${message}`
  expect(() => responseFor(decision as Decision)).toThrow(new TypeError(error))
})

test('statusCode and message replace those of a denial by a limit', () => {
  const response = responseFor(decide().denied, {
    headers: 'none',
    statusCode: 420,
    message: { slow: 'down' },
  })
  expect(response).toMatchObject({ status: 420, body: '{"slow":"down"}' })
  expect(response.headers['Content-Type']).toBe('application/json; charset=utf-8')
})

test.each<[object, string]>([
  [
    { headers: 'modern' },
    "responseFor: headers must be one of 'legacy', 'draft', 'both', 'none', got \"modern\"",
  ],
  [{ statusCode: 200 }, 'responseFor: statusCode must be a whole number from 400 to 599, got 200'],
  [{ acept: 'text/html' }, 'Did you mean accept'],
])('wrong options fail: %j', (options, message) => {
  expect(() => responseFor(decide().allowed, options as ResponseOptions)).toThrow(message)
})
