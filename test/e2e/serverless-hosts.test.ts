import type { RequestListener } from 'node:http'
import { configure as onCodegenie } from '@codegenie/serverless-express'
import { configure as onVendia } from '@vendia/serverless-express'
import express from 'express'
import express4 from 'express4'
import { concurrency, loginGuard, rateLimit } from 'headgate'
import * as dropIn from 'headgate/express-rate-limit'
import * as onKoa from 'headgate/koa'
import Koa from 'koa'
import serverlessHttp from 'serverless-http'

/** Sends one event for `POST /<status>` to a function, and resolves with the status of its result. */
type Invoke = (status: number) => Promise<number>

/** An event of API Gateway (HTTP API). */
const eventFor = (status: number) => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: `/${status}`,
  rawQueryString: '',
  headers: { host: 'example.org', 'content-type': 'application/json' },
  requestContext: {
    http: {
      method: 'POST',
      path: `/${status}`,
      sourceIp: '203.0.113.7',
      protocol: 'HTTP/1.1',
      userAgent: 'x',
    },
    stage: '$default',
    requestId: 'a',
  },
  body: '{}',
  isBase64Encoded: false,
})

type Handler = (event: object, context: object) => Promise<{ statusCode: number }>

const invoker =
  (handler: unknown): Invoke =>
  async (status) =>
    (await (handler as Handler)(eventFor(status), {})).statusCode

const HOSTS: readonly (readonly [string, (app: RequestListener) => Invoke])[] = [
  ['serverless-http', (app) => invoker(serverlessHttp(app))],
  ['@codegenie/serverless-express', (app) => invoker(onCodegenie({ app }))],
  ['@vendia/serverless-express', (app) => invoker(onVendia({ app }))],
]

/** The limits under test, by the options that all frameworks have. */
const WITHOUT_SUCCESSES = { limit: 2, window: '1h', count: 'failed' } as const
const WITHOUT_FAILURES = { limit: 2, window: '1h', count: 'successful' } as const
const BY_COST = { limit: 2, window: '1h', actualCost: () => 0 } as const
const AT_ONCE = { policy: concurrency({ limit: 1, ttl: '1h' }) }
const GUARD = { account: () => 'ada', path: ['/200', '/401'] }

type Options = typeof WITHOUT_SUCCESSES | typeof WITHOUT_FAILURES | typeof BY_COST | typeof AT_ONCE

const statusOf = (path: string) => Number(path.slice(1))

/** Applications that respond with the status in the path. */
const APPS: readonly (readonly [string, (options: Options) => RequestListener])[] = [
  ...([express, express4] as const).map(
    (make, i) =>
      [
        `Express ${5 - i}`,
        (options: Options) =>
          make().use(rateLimit(options), (req, res) => void res.status(statusOf(req.path)).send('hello')),
      ] as const,
  ),
  [
    'node:http',
    (options) => {
      const limit = rateLimit(options)
      return (req, res) =>
        limit(req as never, res as never, () => {
          res.statusCode = statusOf(req.url ?? '')
          res.end('hello')
        })
    },
  ],
  [
    'Koa',
    (options) => {
      const app = new Koa()
      app.use(onKoa.rateLimit(options)).use((ctx) => {
        ctx.body = 'hello'
        ctx.status = statusOf(ctx.path)
      })
      return app.callback()
    },
  ],
]

async function statuses(invoke: Invoke, ...sent: number[]): Promise<number[]> {
  const seen: number[] = []
  for (const status of sent) {
    seen.push(await invoke(status))
    await new Promise((resolve) => setImmediate(resolve)) // a refund goes on after the response
  }
  return seen
}

async function expectRefunds(start: (options: Options) => Invoke): Promise<void> {
  expect(await statuses(start(WITHOUT_SUCCESSES), 200, 200, 200, 401, 401, 200)).toEqual([
    200, 200, 200, 401, 401, 429,
  ])
  expect(await statuses(start(WITHOUT_FAILURES), 401, 401, 401, 200, 200, 401)).toEqual([
    401, 401, 401, 200, 200, 429,
  ])
  expect(await statuses(start(BY_COST), 200, 200, 200, 200)).toEqual([200, 200, 200, 200])
  expect(await statuses(start(AT_ONCE), 200, 401, 200)).toEqual([200, 401, 200])
}

describe.each(HOSTS)('under %s', (_host, host) => {
  test.each(APPS)('%s refunds and releases what requests do not use', async (_framework, app) => {
    await expectRefunds((options) => host(app(options)))
  })

  test('a login clears the failures before it', async () => {
    const app = express().post(
      '/:status',
      loginGuard(GUARD),
      (req, res) => void res.sendStatus(statusOf(req.path)),
    )
    const fourAndOne = [401, 401, 401, 401, 200]
    expect(await statuses(host(app), ...fourAndOne, ...fourAndOne, 401, 401, 401, 401, 401, 401)).toEqual([
      ...fourAndOne,
      ...fourAndOne,
      ...[401, 401, 401, 401, 401, 429],
    ])
  })

  test('the drop-in refunds what it skips', async () => {
    const quiet = { limit: 2, validate: false } as const
    const appWith = (options: object) =>
      express().use(
        dropIn.rateLimit({ ...quiet, ...options }),
        (req, res) => void res.sendStatus(statusOf(req.path)),
      )
    expect(
      await statuses(host(appWith({ skipSuccessfulRequests: true })), 200, 200, 200, 401, 401, 200),
    ).toEqual([200, 200, 200, 401, 401, 429])
    expect(await statuses(host(appWith({ skipFailedRequests: true })), 401, 401, 401, 200, 200, 401)).toEqual(
      [401, 401, 401, 200, 200, 429],
    )
  })

  test('a delayed request passes', async () => {
    const limit = rateLimit({ limit: 3, window: '1h', delay: { after: 1, by: '1ms' } })
    const app = express().use(limit, (req, res) => void res.sendStatus(statusOf(req.path)))
    expect(await statuses(host(app), 200, 200, 200, 200)).toEqual([200, 200, 200, 429])
  })
})
