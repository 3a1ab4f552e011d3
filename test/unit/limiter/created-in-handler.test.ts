import { scheduler } from 'node:timers/promises'
import express, { type RequestHandler } from 'express'
import { createLimiter, memoryStore, rateLimit } from 'headgate'
import { rateLimit as fetchRateLimit } from 'headgate/fetch'
import { closeServers, send, serve } from '../../support/http.js'
import { recordWarnings } from '../../support/warnings.js'

const warnings = recordWarnings()
afterEach(closeServers)

const options = { limit: 2, window: '1m' } as const
const turn = () => new Promise(setImmediate)

/** Returns the warnings after requests to these paths. */
async function warningsAfter(handler: RequestHandler, ...paths: readonly string[]): Promise<unknown[]> {
  const app = express().use(handler, (_req, res) => void res.send('hello'))
  const served = await serve(app)
  for (const path of paths) await send(served, { path })
  return warnings()
}

const store = memoryStore()

test.each<[string, RequestHandler]>([
  ['rateLimit in a handler', (req, res, next) => rateLimit(options)(req, res, next)],
  [
    'rateLimit after an await',
    async (req, res, next) => {
      await turn()
      rateLimit(options)(req, res, next)
    },
  ],
  [
    'createLimiter in a handler',
    (req, _res, next) => {
      createLimiter(options).charge(req)
      next()
    },
  ],
  [
    'a limiter on a shared store',
    (req, res, next) => rateLimit({ ...options, name: 'api', store })(req, res, next),
  ],
])('%s warns once it was created for three equal requests', async (_what, handler) => {
  expect(await warningsAfter(handler, '/', '/')).toEqual([])
  expect(await warningsAfter(handler, '/', '/', '/')).toEqual(['HEADGATE_CREATED_IN_HANDLER'])
})

test('limiters that are kept, one for each tenant, cause no warning', async () => {
  const limiters = new Map<string, RequestHandler>()
  const perTenant: RequestHandler = (req, res, next) => {
    const limit = limiters.get(req.path) ?? rateLimit(options)
    limiters.set(req.path, limit)
    limit(req, res, next)
  }
  const paths = ['/a', '/b', '/c', '/d', '/a', '/b', '/e', '/f']
  expect(await warningsAfter(perTenant, ...paths)).toEqual([])
})

test('a limiter that is created at the first request, and kept, causes no warning', async () => {
  let limit: RequestHandler | undefined
  expect(
    await warningsAfter(
      (req, res, next) => {
        limit ??= rateLimit(options)
        limit(req, res, next)
      },
      '/',
      '/',
      '/',
      '/',
    ),
  ).toEqual([])
})

describe('on a Fetch server', () => {
  const charge = (tenant: string, info = {}) =>
    fetchRateLimit(options)(new Request('http://localhost/', { headers: { 'x-tenant': tenant } }), info)

  test.each([
    ['knows the address', { ip: '192.0.2.1' }],
    ['knows no address', {}],
  ])(
    'that %s, a limiter in a handler warns once it was created for twenty equal requests',
    async (_what, info) => {
      for (let i = 0; i < 19; i++) await charge('a', info)
      expect(warnings()).not.toContain('HEADGATE_CREATED_IN_HANDLER')
      await charge('a', info)
      expect(warnings()).toContain('HEADGATE_CREATED_IN_HANDLER')
    },
  )

  test('requests that differ in a header only are not equal', async () => {
    for (let i = 0; i < 30; i++) await charge(String(i), { ip: '192.0.2.1' })
    expect(warnings()).toEqual([])
  })
})

test('a limiter can be created where timers throw, as at the top of a Worker, and limits', async () => {
  const timer = jest.spyOn(scheduler, 'yield').mockImplementation(() => {
    throw new Error('Disallowed operation called within global scope.')
  })
  const limit = fetchRateLimit(options)
  timer.mockRestore()
  const request = () => limit(new Request('http://localhost/'), { ip: '192.0.2.1' })
  const responses = [await request(), await request(), await request()]
  expect(responses.map((response) => response?.status)).toEqual([undefined, undefined, 429])
})
