import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { slidingLog } from 'headgate'
import { rateLimit as honoLimit } from 'headgate/hono'
import { rateLimit as koaLimit } from 'headgate/koa'
import { redisStore } from 'headgate/redis'
import { Hono, type MiddlewareHandler } from 'hono'
import { rateLimiter, type Store } from 'hono-rate-limiter'
import { Redis } from 'ioredis'
import Koa, { type Middleware } from 'koa'
import koaRateLimit from 'koa-ratelimit'
import { closeServers, closeWithServers, send, serve } from '../../support/http.js'
import { bundleSources } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { until } from '../../support/servers/wait.js'
import { denialTo, sendTimes, statusesOf, testBox } from './boxes.js'

const ONE = { limit: 1, window: '1m' } as const
const PROBLEM = 'application/problem+json'
const message = 'Slow down'

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
}, INSTALL_TIMEOUT_MS)
afterEach(closeServers)
afterAll(() => server.stop())

/** A client of the server; of none if it is lost. */
function redis(isLost = false): Redis {
  const options = { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, retryStrategy: () => null }
  const client = isLost ? new Redis(9, options) : new Redis(server.url, options)
  client.on('error', () => undefined)
  closeWithServers(async () => client.disconnect())
  return client
}

function koaApp(limiter: Middleware) {
  const app = new Koa()
  app.silent = true
  app.use(limiter).use((ctx) => {
    ctx.body = 'hello'
  })
  return app.callback()
}

const koaTheirs = (db: Redis, max = 1) => koaApp(koaRateLimit({ driver: 'redis', db, max, duration: 60_000 }))

testBox('koa-ratelimit', {
  'A failing Redis': async () => {
    expect(statusesOf(await sendTimes(1, koaTheirs(redis(true))))).toEqual([500])
    const ours = koaLimit({ ...ONE, name: 'api', store: redisStore(redis(true)) })
    expect(statusesOf(await sendTimes(1, koaApp(ours)))).toEqual([200])
  },
  'Any window.': async () => {
    /** A server that one client has sent 60 requests at once, all of which were allowed. */
    const usedUp = async (limiter: Parameters<typeof serve>[0]) => {
      const target = await serve(limiter)
      const answers = await Promise.all(Array.from({ length: 60 }, () => send(target)))
      expect(new Set(statusesOf(answers))).toEqual(new Set([200]))
      return target
    }
    const sixty = { limit: 60, window: '1m' } as const
    const theirs = await usedUp(koaTheirs(redis(), 60))
    const log = await usedUp(koaApp(koaLimit({ policy: slidingLog(sixty) })))
    const bucket = await usedUp(koaApp(koaLimit(sixty)))
    await until('a token is back', async () => (await send(bucket)).status === 200)
    expect(statusesOf([await send(theirs), await send(log)])).toEqual([429, 429])
  },
  'JSON.': async () => {
    expect(await denialTo('application/json', koaTheirs(redis()))).toEqual([429, 'text/plain'])
    expect(await denialTo('application/json', koaApp(koaLimit(ONE)))).toEqual([429, PROBLEM])
    expect(await denialTo('application/json', koaApp(koaLimit({ ...ONE, message })))).toEqual([
      429,
      'text/plain',
    ])
  },
})

/** The responses to two requests. */
async function honoResponses(limiter: MiddlewareHandler, accept = '*/*'): Promise<Response[]> {
  const app = new Hono().use(limiter).get('/', (c) => c.text('hello'))
  app.onError((_error, c) => c.text('failed', 500))
  return [await app.request('/', { headers: { accept } }), await app.request('/', { headers: { accept } })]
}

const honoTheirs = (store?: Store) =>
  rateLimiter({ windowMs: 60_000, limit: 1, keyGenerator: () => 'ada', ...(store && { store }) })
const honoOurs = (options: object = {}) => honoLimit({ ...ONE, key: () => 'ada', ...options })

testBox('hono-rate-limiter', {
  Headers: async () => {
    const names = async (limiter: MiddlewareHandler) => {
      const [first] = await honoResponses(limiter)
      return [...(first?.headers.keys() ?? [])].filter((name) => name.includes('ratelimit'))
    }
    const fields = ['limit', 'remaining', 'reset']
    expect(await names(honoTheirs())).toEqual([
      'ratelimit-limit',
      'ratelimit-policy',
      'ratelimit-remaining',
      'ratelimit-reset',
    ])
    expect(await names(honoOurs())).toEqual(fields.map((field) => `x-ratelimit-${field}`))
  },
  'A failing store.': async () => {
    const broken: Store = {
      increment: () => Promise.reject(new Error('connection lost')),
      decrement: () => undefined,
      resetKey: () => undefined,
    }
    const firstStatus = async (limiter: MiddlewareHandler) => (await honoResponses(limiter))[0]?.status
    expect(await firstStatus(honoTheirs(broken))).toBe(500)
    expect(await firstStatus(honoOurs({ name: 'api', store: redisStore(redis(true)) }))).toBe(200)
  },
  'JSON.': async () => {
    const typeOf = async (limiter: MiddlewareHandler) => {
      const [, denied] = await honoResponses(limiter, 'application/json')
      return [denied?.status, denied?.headers.get('content-type')?.replace(/;.*/, '')]
    }
    expect(await typeOf(honoTheirs())).toEqual([429, 'text/plain'])
    expect(await typeOf(honoOurs())).toEqual([429, PROBLEM])
    expect(await typeOf(honoOurs({ message }))).toEqual([429, 'text/plain'])
  },
})

/** What the applications of `nest-child.ts` respond; Nest is ESM only. */
async function nestResults(): Promise<Record<string, unknown>> {
  const program = await bundleSources(join(__dirname, 'nest-child.ts'))
  const running = promisify(execFile)(process.execPath, [program.path], { cwd: join(__dirname, '../../..') })
  const { stdout } = await running.finally(program.remove)
  return JSON.parse(stdout)
}

let nest: Promise<Record<string, unknown>> | undefined
const nestResult = async (name: string) => {
  nest ??= nestResults()
  return (await nest)[name]
}

testBox('nestjs-throttler', {
  'Handlers share a limit.': async () => {
    expect(await nestResult('handlers')).toEqual({
      theirs: [200, 200],
      ours: [200, 429],
      byRoute: [200, 200],
    })
  },
  Decorators: async () => {
    expect(await nestResult('decorators')).toEqual({ module: [200, 200], decorated: [200, 429] })
  },
  'Denials end': async () => {
    expect(await nestResult('denials')).toEqual({ theirs: 60, ours: 30 })
  },
  Headers: async () => {
    expect(await nestResult('headers')).toEqual({
      theirs: ['x-ratelimit-limit-short', 'x-ratelimit-remaining-short', 'x-ratelimit-reset-short'],
      ours: ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
    })
  },
})
