import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import fastify from 'fastify'
import { createLimiter, loginGuard, rateLimit } from 'headgate'
import { rateLimit as dropIn } from 'headgate/express-rate-limit'
import { rateLimit as fastifyLimit } from 'headgate/fastify'
import { rateLimit as honoLimit } from 'headgate/hono'
import { rateLimit as koaLimit } from 'headgate/koa'
import { Hono } from 'hono'
import Koa from 'koa'
import { EXPRESS_5, type Handler, sayHello } from '../support/frameworks.js'
import { closeServers, closeWithServers, type Served, send, serve, statuses, times } from '../support/http.js'
import { recordWarnings } from '../support/warnings.js'

const warnings = recordWarnings()
afterEach(closeServers)

const ONE = { limit: 1, window: '1h' } as const

/** Truthy results that a client or a forgotten call may cause. */
const TRUTHY: readonly (readonly [string, unknown])[] = [
  ['a header', 'yes'],
  ['an empty object', {}],
  ['a function that was not called', () => false],
  ['a number', 1],
  ['a promise of text', Promise.resolve('yes')],
]

const FALSY: readonly unknown[] = [false, undefined, null, '', 0, Promise.resolve(undefined)]

const inExpress = (middleware: unknown) => serve(EXPRESS_5.app(middleware as Handler, sayHello))

describe.each(TRUTHY)('%s as the result of skip', (_what, result) => {
  const skip = () => result as never

  test.each<[string, () => Promise<Served>]>([
    ['Express', () => inExpress(rateLimit({ ...ONE, skip }))],
    ['one of several limits', () => inExpress(rateLimit({ limits: [{ ...ONE, skip }] }))],
    ['a login guard', () => inExpress(loginGuard({ account: () => 'ada', skip }))],
    [
      'Koa',
      () =>
        serve(
          silent(new Koa())
            .use(koaLimit({ ...ONE, skip }))
            .callback(),
        ),
    ],
    [
      'Fastify',
      async () => {
        const app = fastify()
        closeWithServers(() => app.close())
        await app.register(fastifyLimit, { ...ONE, skip })
        app.get('/', () => 'hello')
        await app.ready()
        return serve((req, res) => app.routing(req, res))
      },
    ],
    [
      'Hono',
      () => {
        const app = new Hono().use(honoLimit({ ...ONE, skip })).get('/', (c) => c.text('hello'))
        app.onError((_error, c) => c.text('failed', 500))
        const server = createAdaptorServer({ fetch: app.fetch }) as Server
        return serve((req, res) => server.emit('request', req, res))
      },
    ],
  ])('exempts no request: %s responds with 500', async (_where, start) => {
    expect(await statuses(await start(), times(2))).toEqual([500, 500])
  })

  test('makes a charge fail with the fix', async () => {
    const limiter = createLimiter<string>({ ...ONE, key: (id) => id, skip })
    const charge = async () => limiter.charge('ada')
    await expect(charge()).rejects.toThrow(
      /^createLimiter: the result of skip must be true or false, got .*\. Return a comparison, or Boolean\(…\)\.$/,
    )
  })

  test('exempts a request in the drop-in, as in express-rate-limit', async () => {
    const served = await inExpress(dropIn({ limit: 1, validate: false, skip }))
    expect(await statuses(served, times(2))).toEqual([200, 200])
  })
})

function silent(app: Koa): Koa {
  app.silent = true
  return app
}

test.each(FALSY)('a skip that returns %p exempts no request', async (result) => {
  const served = await inExpress(rateLimit({ ...ONE, skip: () => result as boolean }))
  expect(await statuses(served, times(2))).toEqual([200, 429])
})

test('an error about skip does not repeat what a client chose', async () => {
  const served = await inExpress(rateLimit({ ...ONE, skip: (req) => req.headers['x-key'] as never }))
  const { text } = await send(served, { headers: { 'x-key': 'hunter2' } })
  expect(text).toMatch(/^rateLimit: the result of skip must be true or false, got a string\./)
})

test.each([...TRUTHY.map(([, result]) => result), undefined, null, 0, ''])(
  'a count function that returns %p leaves the request charged, and says so',
  async (result) => {
    const limit = rateLimit({ ...ONE, count: () => result as boolean })
    const failures: unknown[] = []
    limit.limiter.events.on('refundFailed', (error) => failures.push(error))
    expect(await statuses(await inExpress(limit), times(2))).toEqual([200, 429])
    expect(failures.map(String)).toEqual([
      expect.stringMatching(/^TypeError: headgate: the result of count must be true or false, got /),
    ])
    expect(warnings()).toEqual([])
  },
)
