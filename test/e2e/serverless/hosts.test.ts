import type { RequestListener } from 'node:http'
import { configure as onCodegenie } from '@codegenie/serverless-express'
import { configure as onVendia } from '@vendia/serverless-express'
import express from 'express'
import express4 from 'express4'
import { loginGuard, rateLimit, requestDelay } from 'headgate'
import * as dropIn from 'headgate/express-rate-limit'
import * as onKoa from 'headgate/koa'
import Koa from 'koa'
import serverlessHttp from 'serverless-http'
import { eventFor, GUARD, LOGINS, type Options, REFUNDS } from './refunds.js'

/** Sends one event for `POST /<status>` to a function, and resolves with the status of its result. */
type Invoke = (status: number) => Promise<number>

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
  for (const { options, sent, seen } of REFUNDS) expect(await statuses(start(options), ...sent)).toEqual(seen)
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
    expect(await statuses(host(app), ...LOGINS.sent)).toEqual(LOGINS.seen)
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
    const limit = rateLimit({ limit: 3, window: '1h', delay: requestDelay({ after: 1, by: '1ms' }) })
    const app = express().use(limit, (req, res) => void res.sendStatus(statusOf(req.path)))
    expect(await statuses(host(app), 200, 200, 200, 200)).toEqual([200, 200, 200, 429])
  })
})
