import type { IncomingMessage, ServerResponse } from 'node:http'
import express, { type RequestHandler } from 'express'
import { memoryStore, rateLimit, slidingLog } from 'headgate'
import * as dropIn from 'headgate/express-rate-limit'
import { rateLimit as koaLimit } from 'headgate/koa'
import Koa from 'koa'
import { brokenStore } from '../support/fault-stores.js'
import { type Answer, closeServers, type Sent, type Served, send, serve } from '../support/http.js'
import { DENYING_SERVERS, type Denying, LATER, OUTER_SERVERS, setEarlier } from './denial-servers.js'

afterEach(closeServers)

/** What caches read. */
const FOR_CACHES = {
  'CDN-Cache-Control': 'max-age=300',
  'Cloudflare-CDN-Cache-Control': 'max-age=300',
  'Netlify-CDN-Cache-Control': 'public, s-maxage=300',
  'Vercel-CDN-Cache-Control': 'max-age=300',
  'Akamai-Cache-Control': 'max-age=300',
  'X-LiteSpeed-Cache-Control': 'public, max-age=300',
  'Surrogate-Control': 'max-age=300',
  'Edge-Control': 'cache-maxage=300s',
  'X-Accel-Expires': '300',
  Expires: 'Sun, 29 Nov 2099 10:00:00 GMT',
  ETag: '"1"',
  'Last-Modified': 'Sat, 28 Nov 2026 10:00:00 GMT',
}

/** What earlier middleware sets, also of what would win over the headers of a denial. */
const EARLIER = {
  ...FOR_CACHES,
  'Cache-Control': 'public, max-age=300',
  'Retry-After': '7777',
  'X-RateLimit-Limit': '7777',
  'X-RateLimit-Remaining': '7777',
  'X-RateLimit-Reset': '7777',
  'X-Kept': 'yes',
}

/** What outer middleware sets on every response. */
const OUTER = { ...FOR_CACHES, 'Cache-Control': 'public, max-age=300', 'X-Kept': 'yes' }

/** Returns whether `res.send` of Express has added the ETag. */
function isOfExpress({ etag, 'x-powered-by': poweredBy }: Answer['headers']): boolean {
  return etag !== EARLIER.ETag && poweredBy === 'Express'
}

function expectUncacheable({ headers }: Answer): void {
  expect([headers['cache-control'], headers['x-kept']]).toEqual(['no-store', 'yes'])
  const kept = Object.keys(FOR_CACHES).filter((name) => name.toLowerCase() in headers)
  expect(kept.filter((name) => !(name === 'ETag' && isOfExpress(headers)))).toEqual([])
}

const POST: Sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
const ONE = { limit: 1, window: '1m', cost: 1 } as const
const NEVER_FITS = { ...ONE, cost: 2 }
const oneAttempt = slidingLog({ limit: 1, window: '1m' })

/** Each kind of denial, with its headers. */
const DENIALS: readonly (readonly [string, number, () => Denying, object])[] = [
  [
    'a request over its limit',
    429,
    () => ({ options: ONE }),
    { 'retry-after': '60', 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' },
  ],
  ['a cost that never fits', 403, () => ({ options: NEVER_FITS }), { 'x-ratelimit-remaining': '0' }],
  ['a blocked address', 403, () => ({ options: { ...ONE, block: ['0.0.0.0/0', '::/0'] } }), {}],
  [
    'a failed store',
    503,
    () => ({ options: { ...ONE, store: brokenStore(), onStoreError: 'deny' } }),
    { 'retry-after': '1' },
  ],
  ['a malformed login', 400, () => ({ guard: { field: 'name' } }), {}],
  [
    'a login over its limits',
    429,
    () => ({ guard: { account: () => 'ada', limits: { account: oneAttempt }, store: memoryStore() } }),
    { 'retry-after': '60' },
  ],
]

describe.each(DENYING_SERVERS)('on %s', (_framework, serveDenying) => {
  test.each(DENIALS)('no cache may store the response to %s', async (_what, status, denying, expected) => {
    const target = await serveDenying(denying(), EARLIER)
    const first = await send(target, POST)
    const denied = first.status === 401 ? await send(target, POST) : first
    expect(denied).toMatchObject({ status, headers: expected })
    expectUncacheable(denied)
    if (!('retry-after' in expected)) expect(denied.headers).not.toHaveProperty('retry-after')
  })

  test('a cost that never fits has no time of a reset', async () => {
    const { headers } = await send(await serveDenying({ options: NEVER_FITS }, EARLIER), POST)
    expect(headers).not.toHaveProperty('x-ratelimit-reset')
  })

  test('a success keeps what earlier middleware set for caches', async () => {
    const { status, headers } = await send(await serveDenying({ options: ONE }, EARLIER), POST)
    const { 'cache-control': cacheControl, 'cdn-cache-control': ofCdn, etag } = headers
    expect([status, cacheControl, ofCdn, etag]).toEqual([401, 'public, max-age=300', 'max-age=300', '"1"'])
  })

  test('no cache may store what onDenied sends, unless it says so', async () => {
    const denied = await send(await serveDenying({ options: NEVER_FITS, byApp: {} }, EARLIER), POST)
    expect(denied).toMatchObject({ status: 403, text: 'no', headers: { 'x-ratelimit-limit': '1' } })
    expectUncacheable(denied)
    const byApp = { cacheControl: 'public, max-age=1' }
    const { headers } = await send(await serveDenying({ options: NEVER_FITS, byApp }, EARLIER), POST)
    expect(headers['cache-control']).toBe('public, max-age=1')
  })
})

describe.each(OUTER_SERVERS)('behind outer middleware: %s', (_framework, serveDenying) => {
  test.each(DENIALS)('no cache may store the response to %s', async (_what, status, denying) => {
    const target = await serveDenying(denying(), OUTER)
    const first = await send(target, POST)
    const denied = first.status === 401 ? await send(target, POST) : first
    expect(denied.status).toBe(status)
    expectUncacheable(denied)
  })

  test('a success keeps the headers that it sets', async () => {
    const { status, headers } = await send(await serveDenying({ options: ONE }, OUTER), POST)
    expect([status, headers['cache-control'], headers.etag]).toEqual([401, 'public, max-age=300', '"1"'])
  })
})

const inExpress = (limit: unknown) =>
  serve(
    express().use(
      setEarlier(EARLIER) as RequestHandler,
      limit as RequestHandler,
      (_req, res) => void res.send('hello'),
    ),
  )

/** Limiters whose denied requests go on to the next handler. */
const PASSING: readonly (readonly [string, () => Promise<Served>])[] = [
  [
    'Express',
    () => inExpress(rateLimit({ ...ONE, headers: 'both', onDenied: (_req, _res, next) => next() })),
  ],
  [
    'Koa',
    () => {
      const app = new Koa()
      const limit = koaLimit({ ...ONE, headers: 'both', onDenied: (_ctx, next) => next() })
      app.use((ctx, next) => {
        ctx.set(EARLIER)
        return next()
      })
      app.use(limit).use((ctx) => {
        ctx.body = 'hello'
      })
      return serve(app.callback())
    },
  ],
]

test.each(PASSING)(
  'a denied request that onDenied passes on keeps only its quota headers: %s',
  async (_on, start) => {
    const served = await start()
    await send(served)
    const { status, text, headers } = await send(served)
    expect([status, text]).toEqual([200, 'hello'])
    expect(headers).toMatchObject({
      'x-ratelimit-limit': '1',
      'x-ratelimit-remaining': '0',
      ratelimit: '"1-in-1min";r=0;t=60',
      'cache-control': EARLIER['Cache-Control'],
      'retry-after': EARLIER['Retry-After'],
    })
  },
)

test('an onDenied that calls next gives the headers back', async () => {
  const limit = rateLimit({ ...NEVER_FITS, onDenied: (_req, _res, next) => next() })
  const { status, headers } = await send(await inExpress(limit))
  const kept = ['Cache-Control', 'ETag', 'X-Accel-Expires', 'Retry-After'] as const
  expect(status).toBe(200)
  for (const name of kept) expect(headers[name.toLowerCase()]).toBe(EARLIER[name])
})

describe('with the options of express-rate-limit', () => {
  test.each(Object.entries(LATER))('no cache may store a denial behind %s', async (_how, set) => {
    const limit = dropIn.rateLimit({ limit: 0, validate: false })
    const denied = await send(await serve(express().use(set(OUTER) as RequestHandler, limit)))
    expect([denied.status, denied.headers['retry-after']]).toEqual([429, '60'])
    expectUncacheable(denied)
  })

  const limited = (options: object) => inExpress(dropIn.rateLimit({ limit: 0, ...options }))

  test('no cache may store a denial', async () => {
    const denied = await send(await limited({ message: { error: 'no' } }))
    expect(denied.status).toBe(429)
    expectUncacheable(denied)
  })

  test('a handler may say otherwise, or pass the request on', async () => {
    const handler = (_req: IncomingMessage, res: ServerResponse) =>
      res.setHeader('Cache-Control', 'public').end('no')
    expect((await send(await limited({ handler }))).headers['cache-control']).toBe('public')
    const passOn = (_req: unknown, _res: unknown, next: () => void) => next()
    const passed = await send(await limited({ handler: passOn }))
    expect([passed.text, passed.headers['cache-control']]).toEqual(['hello', EARLIER['Cache-Control']])
  })
})
