import type { IncomingMessage, ServerResponse } from 'node:http'
import { memoryStore, type RateLimitOptions, rateLimit } from 'headgate'
import { throwingStore } from '../support/fault-stores.js'
import { FRAMEWORKS, type Handler, sayHello } from '../support/frameworks.js'
import { type Answer, closeServers, type Served, send, serve } from '../support/http.js'

afterEach(closeServers)

/**
 * Middleware as compression and session packages bring it: it takes the headers that `writeHead` is given
 * for a list of [name, value] pairs or an object, sets each by itself, and writes the head with the status
 * alone.
 */
const patchWriteHead: Handler = (_req, res, next) => {
  const original = res.writeHead
  function patched(status: number, ...rest: unknown[]): ServerResponse {
    const given = rest.find((value) => typeof value === 'object' && value !== null) ?? {}
    const pairs = Array.isArray(given) ? (given as [string, string][]) : Object.entries(given)
    for (const [name, value] of pairs) res.setHeader(name, value)
    return original.call(res, status)
  }
  res.writeHead = patched as typeof res.writeHead
  next()
}

type Options = RateLimitOptions<IncomingMessage, ServerResponse>
const options = (): Options => ({
  limit: 1,
  window: '1m',
  resetFormat: 'delta-seconds',
  store: memoryStore({ clock: () => 0 }),
})

/** Each way to refuse a request: its options, its status, and a few of its headers. */
const DENIALS: readonly (readonly [string, () => Options, number, object, string])[] = [
  [
    'over its limit',
    options,
    429,
    {
      'retry-after': '60',
      'x-ratelimit-limit': '1',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '60',
    },
    'Too many requests. Try again in 60 seconds.\n',
  ],
  [
    'over its limit, with the draft headers',
    () => ({ ...options(), headers: 'draft', name: 'api' }),
    429,
    { 'ratelimit-policy': '"api";q=1;w=60', ratelimit: '"api";r=0;t=60', 'retry-after': '60' },
    'Too many requests. Try again in 60 seconds.\n',
  ],
  [
    'over its limit, with a message and a status of the user',
    () => ({ ...options(), message: { error: 'slow down' }, statusCode: 420 }),
    420,
    { 'content-type': 'application/json; charset=utf-8', 'retry-after': '60', 'cache-control': 'no-store' },
    '{"error":"slow down"}',
  ],
  [
    'over its limit, with an answer of the user',
    () => ({
      ...options(),
      onDenied: (_req, res) => {
        res.writeHead(430, { 'X-Own': 'yes' })
        res.end('own')
      },
    }),
    430,
    { 'x-own': 'yes', 'retry-after': '60', 'x-ratelimit-remaining': '0' },
    'own',
  ],
  [
    'blocked by its address',
    () => ({ ...options(), block: ['127.0.0.1'] }),
    403,
    { 'content-type': 'text/plain; charset=utf-8', 'content-length': '11' },
    'Forbidden.\n',
  ],
  [
    'refused since the store failed',
    () => ({ ...options(), store: throwingStore(), onStoreError: 'deny' }),
    503,
    { 'retry-after': '1', 'cache-control': 'no-store' },
    'Service temporarily unavailable. Try again in 1 second.\n',
  ],
]

/** The second answer of a server, without the date. */
async function secondAnswer(served: Served): Promise<Answer> {
  await send(served)
  const { status, headers, text } = await send(served)
  return { status, headers: { ...headers, date: 'now' }, text }
}

describe.each(FRAMEWORKS)('on $name', ({ app }) => {
  beforeEach(() => {
    jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  })
  afterEach(() => jest.restoreAllMocks())

  test.each(DENIALS)(
    'a request that is %s keeps its headers and body when earlier middleware patched writeHead',
    async (_why, make, status, headers, text) => {
      const patched = await secondAnswer(await serve(app(patchWriteHead, rateLimit(make()), sayHello)))
      expect(patched).toMatchObject({ status, headers, text })
      expect(patched).toEqual(await secondAnswer(await serve(app(rateLimit(make()), sayHello))))
    },
  )

  test('a problem document keeps its type and its length', async () => {
    const served = await serve(
      app(patchWriteHead, rateLimit({ ...options(), block: ['127.0.0.1'] }), sayHello),
    )
    const { headers, text } = await send(served, { headers: { accept: 'application/json' } })
    expect(headers['content-type']).toBe('application/problem+json')
    expect(headers['content-length']).toBe(String(text.length))
    expect(JSON.parse(text)).toEqual({ type: 'about:blank', title: 'Forbidden', status: 403 })
  })

  test('headers that earlier middleware set are sent as well', async () => {
    const setOwn: Handler = (_req, res, next) => {
      res.setHeader('X-Request-Id', '7')
      next()
    }
    const served = await serve(app(patchWriteHead, setOwn, rateLimit(options()), sayHello))
    expect((await secondAnswer(served)).headers).toMatchObject({ 'x-request-id': '7', 'retry-after': '60' })
  })
})
