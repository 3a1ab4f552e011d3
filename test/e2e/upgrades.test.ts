import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { attach } from 'engine.io'
import { attach as attach65 } from 'engine.io-6.5'
import { Socket as EngineClient } from 'engine.io-client'
import { rateLimit as dropIn } from 'headgate/express-rate-limit'
import {
  concurrency,
  loginGuard,
  type RateLimitMiddleware,
  rateLimit,
  requestDelay,
  responseCost,
} from 'headgate/http'
import { Server as SocketServer } from 'socket.io'
import { WebSocketServer } from 'ws'
import { closeServers, closeWithServers, send, serve } from '../support/http.js'
import { upgrade } from '../support/upgrade.js'
import { recordWarnings } from '../support/warnings.js'

const warnings = recordWarnings()
afterEach(closeServers)

type Next = (error?: unknown) => void

/** A middleware, as engine.io calls it. */
type Middleware = (req: IncomingMessage, res: ServerResponse, next: Next) => unknown

interface Upgrading {
  readonly port: number
  /** The errors that the server reports. */
  readonly errors: unknown[]
  /** How many sockets the server has accepted. */
  accepted(): number
}

interface Engine {
  use(middleware: never): unknown
  on(event: string, listener: (value: never) => void): unknown
}

async function upgrading(attachTo: (server: Server) => Engine, middleware: Middleware): Promise<Upgrading> {
  const { server, port } = await serve((_req, res) => res.end())
  const engine = attachTo(server)
  const errors: unknown[] = []
  let accepted = 0
  engine.use(((req: IncomingMessage, res: ServerResponse, next: Next) =>
    middleware(req, res, (error) => {
      if (error !== undefined) errors.push(error)
      next(error)
    })) as never)
  engine.on('connection', () => accepted++)
  return { port, errors, accepted: () => accepted }
}

const ENGINES: readonly (readonly [string, (middleware: Middleware) => Promise<Upgrading>])[] = [
  ['engine.io 6.5', (middleware) => upgrading((server) => attach65(server, {}) as never, middleware)],
  ['engine.io 6.6', (middleware) => upgrading((server) => attach(server, {}) as never, middleware)],
  [
    'Socket.IO',
    (middleware) =>
      upgrading((server) => {
        const io = new SocketServer(server, { path: '/engine.io/' })
        return io.engine as never
      }, middleware),
  ],
]

async function upgrades(port: number, count: number): Promise<unknown[]> {
  const ends: unknown[] = []
  for (let i = 0; i < count; i++) ends.push(await upgrade(port))
  return ends
}

const isUpgrade = ({ headers }: IncomingMessage) => headers.upgrade === 'websocket'

describe.each(ENGINES)('WebSockets of %s', (_engine, start) => {
  test('are limited, and a denied one reports an error', async () => {
    const { port, errors, accepted } = await start(rateLimit({ limit: 2, window: '1h' }))
    expect(await upgrades(port, 4)).toEqual(['open', 'open', 400, 400])
    expect(accepted()).toBe(2)
    expect(errors[0]).toMatchObject({
      status: 429,
      statusCode: 429,
      headers: { 'Retry-After': '1800', 'Cache-Control': 'no-store' },
    })
  })

  test('are limited by several limiters, and blocked', async () => {
    const first = rateLimit({ limit: 3, window: '1h', headers: 'both' })
    const second = rateLimit({ limit: 1, window: '1h', headers: 'both' })
    const both: Middleware = (req, res, next) =>
      first(req, res, (error) => (error ? next(error) : second(req, res, next)))
    expect(await upgrades((await start(both)).port, 2)).toEqual(['open', 400])
    const { port, errors } = await start(rateLimit({ limit: 1, window: '1h', block: ['127.0.0.1'] }))
    expect(await upgrade(port)).toBe(400)
    expect(errors).toMatchObject([{ status: 403 }])
  })

  test.each<[string, () => RateLimitMiddleware]>([
    ['count', () => rateLimit({ limit: 9, window: '1h', count: 'failed' })],
    ['actualCost', () => rateLimit({ limit: 9, window: '1h', actualCost: responseCost(() => 0) })],
    ['delay', () => rateLimit({ limit: 9, window: '1h', delay: requestDelay({ after: 0, by: '1ms' }) })],
    ['concurrency', () => rateLimit({ policy: concurrency({ limit: 9, ttl: '1h' }) })],
    [
      'concurrency by a function',
      () => rateLimit({ name: 'a', policy: () => concurrency({ limit: 9, ttl: '1h' }) }),
    ],
  ])('are refused by %s with the fix, and take nothing', async (_what, make) => {
    const limit = make()
    const { port, errors } = await start(limit)
    expect(await upgrades(port, 3)).toEqual([400, 400, 400])
    expect(String(errors[2])).toMatch(
      /^TypeError: rateLimit: count, .* Exempt it with skip, .* when its socket closes\.$/,
    )
    const { remaining } = await limit.limiter.peek({ ip: '127.0.0.1', headers: {}, method: 'GET' } as never)
    expect(remaining).toBe(9)
  })

  test.each<[string, object]>([
    ['count', { limit: 1, window: '1h', count: 'failed' }],
    ['delay', { limit: 1, window: '1h', delay: requestDelay({ after: 0, by: '1ms' }) }],
    ['concurrency', { policy: concurrency({ limit: 1, ttl: '1h' }) }],
  ])('pass %s if they are exempt', async (_what, options) => {
    const { port } = await start(rateLimit({ ...options, skip: isUpgrade } as never))
    expect(await upgrades(port, 3)).toEqual(['open', 'open', 'open'])
  })

  test.each<[string, object]>([
    ['count', { limit: 1, window: '1h', count: 'failed' }],
    ['actualCost', { limit: 1, window: '1h', actualCost: responseCost(() => 0) }],
    ['delay', { limit: 1, window: '1h', delay: requestDelay({ after: 0, by: '1ms' }) }],
    ['concurrency', { policy: concurrency({ limit: 1, ttl: '1h' }) }],
    ['a denial by an address', { limit: 1, window: '1h', block: ['127.0.0.1'] }],
  ])('are never refused in report mode: %s', async (what, options) => {
    const limit = rateLimit({ ...options, mode: 'report' } as never)
    const failures: unknown[] = []
    limit.limiter.events.on('refundFailed', (error) => failures.push(error))
    const { port, errors } = await start(limit)
    expect(await upgrades(port, 3)).toEqual(['open', 'open', 'open'])
    expect(errors).toEqual([])
    if (what.startsWith('a denial')) return
    expect(String(failures[0])).toMatch(/^TypeError: rateLimit: count, .* need a response/)
    const { remaining } = await limit.limiter.peek({ ip: '127.0.0.1', headers: {}, method: 'GET' } as never)
    expect(remaining).toBe(what === 'concurrency' ? 1 : 0)
  })

  test('never fail at a login guard in report mode', async () => {
    const { port } = await start(loginGuard({ account: () => 'ada', mode: 'report' }))
    expect(await upgrades(port, 7)).toEqual(Array(7).fill('open'))
  })

  test('are no logins', async () => {
    const { port, errors } = await start(loginGuard({ account: () => 'ada' }))
    expect(await upgrades(port, 7)).toEqual(Array(7).fill(400))
    expect(new Set(errors.map((error) => String(error).slice(0, 55)))).toEqual(
      new Set(['TypeError: loginGuard: a login needs a response, but th']),
    )
  })

  test('stay closed if a function throws, and reach onDenied', async () => {
    const key = () => {
      throw new Error('down')
    }
    expect(await upgrade((await start(rateLimit({ limit: 1, window: '1h', key }))).port)).toBe(400)
    const seen: number[] = []
    const onDenied = (_req: unknown, res: ServerResponse, next: Next) => {
      seen.push(res.statusCode)
      next(new Error('denied'))
    }
    const { port } = await start(rateLimit({ limit: 1, window: '1h', onDenied }))
    expect(await upgrades(port, 2)).toEqual(['open', 400])
    expect(seen).toEqual([429])
  })

  test('are limited by the drop-in', async () => {
    const { port, accepted } = await start(dropIn({ limit: 1, validate: false }) as never)
    expect(await upgrades(port, 2)).toEqual(['open', 400])
    expect(accepted()).toBe(1)
  })

  test.each(['skipSuccessfulRequests', 'skipFailedRequests'])(
    'are refused by %s of the drop-in with the fix, and not counted',
    async (option) => {
      const limit = dropIn({ limit: 1, validate: false, [option]: true })
      const { port, errors } = await start(limit as never)
      expect(await upgrades(port, 3)).toEqual([400, 400, 400])
      expect(String(errors[2])).toMatch(
        /^TypeError: rateLimit: skipFailedRequests and skipSuccessfulRequests need a response, .* with skip, /,
      )
      expect(await limit.getKey('127.0.0.1')).toBeUndefined()
      const exempt = dropIn({ limit: 1, validate: false, [option]: true, skip: isUpgrade })
      expect(await upgrades((await start(exempt as never)).port, 2)).toEqual(['open', 'open'])
    },
  )

  test('share the limit with polling, which gets a response', async () => {
    const { port } = await start(rateLimit({ limit: 2, window: '1h' }))
    const path = '/engine.io/?EIO=4&transport=polling'
    expect((await send({ port }, { path })).status).toBe(200)
    expect(await upgrades(port, 2)).toEqual(['open', 400])
    expect(await send({ port }, { path })).toMatchObject({ status: 429, headers: { 'retry-after': '1800' } })
  })
})

describe('{} as the response', () => {
  /** Accepts an upgrade in the callback of a middleware. `hears` says whether the callback takes the error. */
  async function startWs(middleware: Middleware, hears: boolean): Promise<number> {
    const { server, port } = await serve((_req, res) => res.end())
    const sockets = new WebSocketServer({ noServer: true })
    server.on('upgrade', (req, socket, head) => {
      socket.on('error', () => undefined)
      const accept = () => sockets.handleUpgrade(req, socket, head, () => undefined)
      const hear = (error?: unknown) => {
        const { status = 500 } = (error ?? {}) as { status?: number }
        if (error) socket.end(`HTTP/1.1 ${status} Denied\r\nConnection: close\r\n\r\n`)
        else accept()
      }
      middleware(req, {} as ServerResponse, hears ? hear : () => accept())
    })
    return port
  }

  const failing = () => rateLimit({ limit: 1, window: '1h', key: () => Promise.reject(new Error('down')) })

  test('gives a callback the error of a denial', async () => {
    const port = await startWs(rateLimit({ limit: 1, window: '1h', headers: 'both' }), true)
    expect(await upgrades(port, 2)).toEqual(['open', 429])
    expect(await upgrade(await startWs(failing(), true))).toBe(500)
    const followed = rateLimit({ limit: 1, window: '1h', count: 'failed' })
    expect(await upgrade(await startWs(followed, true))).toBe(500)
    expect(warnings()).toEqual([])
  })

  test.each<[string, Middleware, unknown[]]>([
    ['a denial', rateLimit({ limit: 1, window: '1h' }), ['open', 'closed', 'closed']],
    ['an error', failing(), ['closed', 'closed', 'closed']],
    ['count', rateLimit({ limit: 9, window: '1h', count: 'failed' }), ['closed', 'closed', 'closed']],
    [
      'onDenied',
      rateLimit({ limit: 1, window: '1h', onDenied: (_req, res) => void res.end() }),
      ['open', 'closed', 'closed'],
    ],
    ['the drop-in', dropIn({ limit: 1, validate: false }) as never, ['closed', 'closed', 'closed']],
  ])('closes the connection after %s if the callback takes no error', async (_what, middleware, ends) => {
    expect(await upgrades(await startWs(middleware, false), 3)).toEqual(ends)
    expect(warnings()).toEqual(['HEADGATE_ERROR_UNHEARD'])
  })
})

test('the client of engine.io reports a denied WebSocket', async () => {
  const [, start] = ENGINES[1] ?? []
  const served = await start?.(rateLimit({ limit: 1, window: '1h' }))
  const connect = () => {
    const client = new EngineClient(`ws://127.0.0.1:${served?.port}`, { transports: ['websocket'] })
    closeWithServers(async () => void client.close())
    return client
  }
  await new Promise((resolve) => connect().on('open', () => resolve(undefined)))
  await new Promise((resolve) => connect().on('error', resolve))
  expect(served?.accepted()).toBe(1)
})
