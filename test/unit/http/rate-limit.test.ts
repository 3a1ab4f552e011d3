import type { IncomingMessage, ServerResponse } from 'node:http'
import { adjustments, createLimiter, memoryStore, tokenBucket } from 'headgate'
import { rateLimit, responseCost } from 'headgate/http'
import type { Next } from '../../../src/http/options.js'
import { promisingStore } from '../../support/fault-stores.js'
import { nextTurn } from '../../support/next-turn.js'
import { requestAndResponse } from '../../support/request-response.js'

const policy = tokenBucket({ capacity: 1, refill: 1, every: '1m' })

function run(middleware: (req: IncomingMessage, res: ServerResponse, next: Next) => void) {
  const next = jest.fn()
  const { req, res } = requestAndResponse()
  middleware(req, res, next)
  return { next, req, res }
}

test('the middleware has a name, for stack traces and profiles', () => {
  expect(rateLimit({ policy }).name).toBe('rateLimitMiddleware')
})

test('with a synchronous store next is called in the same tick, with nothing', () => {
  const { next } = run(rateLimit({ policy, skip: () => false, cost: () => 1, key: () => 'a' }))
  expect(next.mock.calls).toEqual([[]])
})

test('with a synchronous store a denied request is answered in the same tick', () => {
  const limiter = rateLimit({ policy })
  run(limiter)
  const { next, res } = run(limiter)
  expect(next).not.toHaveBeenCalled()
  expect(res.statusCode).toBe(429)
  expect(res.writableEnded).toBe(true)
})

test('with a store that returns a promise next is called once, later', async () => {
  const { next } = run(rateLimit({ policy, store: promisingStore() }))
  expect(next).not.toHaveBeenCalled()
  await nextTurn()
  expect(next.mock.calls).toEqual([[]])
})

test('an error that next itself throws is rethrown, and is not passed to next', () => {
  const next = jest.fn(() => {
    throw new Error('broken page')
  })
  const { req, res } = requestAndResponse()
  expect(() => rateLimit({ policy })(req, res, next)).toThrow('broken page')
  expect(next).toHaveBeenCalledTimes(1)
})

test('the request carries its decision, as plain data', () => {
  const { req } = run(rateLimit({ policy, store: memoryStore({ clock: () => 0 }) }))
  const figures = { limit: 1, remaining: 0, resetAfterMs: 60_000, retryAfterMs: 0, moreAfterMs: 60_000 }
  expect(JSON.parse(JSON.stringify(req.rateLimit))).toEqual({
    allowed: true,
    ...figures,
    limitName: '1-in-1min',
    parts: [{ name: '1-in-1min', allowed: true, windowMs: 60_000, cost: 1, ...figures }],
    source: 'store',
  })
})

test('a request without a limit carries a decision with source none, and gets no headers', () => {
  const { req, res, next } = run(rateLimit({ limits: [{ policy, skip: () => true }] }))
  expect(req.rateLimit).toMatchObject({
    allowed: true,
    source: 'none',
    limit: Number.POSITIVE_INFINITY,
    parts: [],
  })
  expect(res.getHeaderNames()).toEqual([])
  expect(next.mock.calls).toEqual([[]])
})

test('the decision of the last limiter is the one that the request carries', () => {
  const { req, res } = requestAndResponse()
  for (const name of ['first', 'last']) rateLimit({ policy, name })(req, res, () => undefined)
  expect(req.rateLimit?.limitName).toBe('last')
})

test('the middleware carries its limiter', async () => {
  const limiter = rateLimit({ policy })
  const { req } = run(limiter)
  expect(await limiter.limiter.peek(req)).toMatchObject({ remaining: 0 })
  await adjustments(limiter.limiter).forget(req)
  expect(await limiter.limiter.peek(req)).toMatchObject({ remaining: 1 })
})

test('draft headers show the configured window, whatever the limit', () => {
  for (const limit of [1, 3, 7, 9, 11, 100, 999]) {
    const { res } = run(rateLimit({ limit, window: '1m', headers: 'draft' }))
    expect(res.getHeader('RateLimit-Policy')).toBe(`"${limit}-in-1min";q=${limit};w=60`)
  }
})

describe('the middleware’s own options:', () => {
  const enough = { limit: 5, window: '1m' }
  const making = (options: object) => () => rateLimit({ ...enough, ...options })

  test.each<[object, string]>([
    [{ skip: true }, 'skip must be a function, got true'],
    [{ skip: ['/health'] }, 'skip must be a function, got an array of 1'],
    [{ onDenied: 'slow down' }, 'onDenied must be a function, got a string'],
    [
      { actualCost: responseCost(() => 1), count: 'failed' },
      'give either count or actualCost, not both. Return 0 from actualCost for requests that do not count.',
    ],
    [
      { count: 'Failed' },
      "count must be one of 'all', 'failed', 'successful', got \"Failed\". Did you mean count: 'failed'?",
    ],
    [{ count: true }, "count must be one of 'all', 'failed', 'successful', got true"],
    [{ headers: true }, "headers must be one of 'legacy', 'draft', 'both', 'none', got true"],
    [{ headers: 'drafts' }, "Did you mean headers: 'draft'?"],
    [{ headers: 'draft-8' }, "Did you mean headers: 'draft'?"],
    [{ resetFormat: 'epoch' }, "resetFormat must be one of 'epoch-seconds', 'delta-seconds', got \"epoch\""],
    [
      { statusCode: 200 },
      'statusCode must be a whole number from 400 to 599, got 200. Did you mean statusCode: 400?',
    ],
    [{ statusCode: 600 }, 'Did you mean statusCode: 599?'],
    [{ statusCode: '429' }, 'got "429". Did you mean statusCode: 429?'],
    [{ statusCode: Number.NaN }, 'got NaN'],
    [
      { message: 7 },
      'message must be a string, or an object that JSON can hold, got 7. Use onDenied to write the whole response.',
    ],
    [{ message: null }, 'got null'],
    [
      { message: () => 'slow' },
      'message must be a string, or an object that JSON can hold, got function message',
    ],
    [{ message: { size: 1n } }, 'message must be'],
    [{ message: circular() }, 'message must be'],
    [{ mode: 'dry-run' }, "mode must be one of 'enforce', 'report', got \"dry-run\""],
    [{ mode: 'reports' }, "Did you mean mode: 'report'?"],
    [
      { allow: '10.0.0.1' },
      'allow must be an array of IP addresses and CIDR ranges, got "10.0.0.1". Did you mean allow: [\'10.0.0.0/8\']?',
    ],
    [{ block: {} }, 'block must be an array of IP addresses and CIDR ranges, got an object'],
    [
      { allow: ['10.0.0.1', 'localhost'] },
      'allow must hold IP addresses and CIDR ranges, got "localhost". Use an entry such as',
    ],
    [{ block: ['10.0.0.0/33'] }, 'got "10.0.0.0/33"'],
    [{ block: ['2001:db8::/129'] }, 'got "2001:db8::/129"'],
    [{ block: ['10.0.0.0/8/8'] }, 'got "10.0.0.0/8/8"'],
    [{ block: ['10.0.0.0/'] }, 'got "10.0.0.0/"'],
    [{ block: ['10.0.0.0/-1'] }, 'got "10.0.0.0/-1"'],
    [{ block: [''] }, 'got ""'],
    [{ block: [7] }, 'got 7'],
    [{ block: [null] }, 'got null'],
  ])('%p is a TypeError with the fix', (wrong, says) => {
    expect(making(wrong)).toThrow(TypeError)
    expect(making(wrong)).toThrow(/^rateLimit: /)
    expect(making(wrong)).toThrow(says)
  })

  test.each([
    ['ondenied', 'onDenied'],
    ['header', 'headers'],
    ['statuscode', 'statusCode'],
    ['skipp', 'skip'],
    ['allows', 'allow'],
  ])('the option %s is an error that suggests %s', (typo, meant) => {
    expect(making({ [typo]: 1 })).toThrow(`rateLimit: there is no option "${typo}". Did you mean ${meant}?`)
  })

  test.each(['count', 'headers', 'onDenied'])('createLimiter has no option %s', (option) => {
    expect(() => createLimiter({ ...enough, [option]: true })).toThrow(
      `createLimiter: there is no option "${option}".`,
    )
  })
})

function circular(): object {
  const message: Record<string, unknown> = {}
  message.self = message
  return message
}
