import fastifyRateLimit from '@fastify/rate-limit'
import express, { type RequestHandler } from 'express'
import { rateLimit as expressRateLimit } from 'express-rate-limit'
import { slowDown } from 'express-slow-down'
import Fastify, { type FastifyInstance } from 'fastify'
import { fixedWindow, rateLimit, requestDelay } from 'headgate'
import { rateLimit as fastifyLimit } from 'headgate/fastify'
import { type FailingStore, failingStore } from '../../support/failing-store.js'
import { closeServers, closeWithServers, send, serve } from '../../support/http.js'
import { until } from '../../support/servers/wait.js'
import { denialTo, sendTimes, statusesOf, testBox } from './boxes.js'

afterEach(closeServers)

const ONE = { limit: 1, window: '1m' } as const
const THEIR_ONE = { limit: 1, windowMs: 60_000 } as const
const PROBLEM = 'application/problem+json'

/** What express-rate-limit calls in place of a store of headgate. */
const BROKEN = {
  increment: () => Promise.reject(new Error('connection lost')),
  decrement: () => undefined,
  resetKey: () => undefined,
}

function brokenStore(): FailingStore {
  const store = failingStore()
  store.mode = 'failing'
  return store
}

/** An app whose responses say what `req.rateLimit` holds. */
function behind(limiter: RequestHandler): express.Express {
  const app = express().set('env', 'test') // logs no errors
  return app.use(limiter, (req, res) => void res.json(req.rateLimit ?? {}))
}

testBox('express-rate-limit', {
  'Denials do not count.': async () => {
    const [used, left]: number[][] = [[], []]
    const theirs = expressRateLimit({
      ...THEIR_ONE,
      handler: (req, res) => void res.json(Reflect.get(req, 'rateLimit')),
    })
    for (const { text } of await sendTimes(3, behind(theirs))) used?.push(JSON.parse(text).used)
    expect(used).toEqual([1, 2, 3])
    const ours = rateLimit({ ...ONE, onDenied: (_req, res, _next, decision) => void res.json(decision) })
    for (const { text } of await sendTimes(3, behind(ours))) left?.push(JSON.parse(text).remaining)
    expect(left).toEqual([0, 0, 0]) // a fourth waits no longer than the second
  },
  'You choose the refill.': async () => {
    const secondsToFull = async (limiter: RequestHandler) => {
      const [first] = await sendTimes(1, behind(limiter))
      return Number(first?.headers['x-ratelimit-reset']) - Date.now() / 1000
    }
    const policy = fixedWindow({ limit: 2, window: '1m', startsAt: 'first-request' })
    for (const limiter of [expressRateLimit({ ...THEIR_ONE, limit: 2 }), rateLimit({ policy })])
      expect(await secondsToFull(limiter)).toBeGreaterThan(50)
    expect(await secondsToFull(rateLimit({ limit: 2, window: '1m' }))).toBeLessThan(40)
  },
  'Store failures': async () => {
    const statusWith = async (limiter: RequestHandler) => statusesOf(await sendTimes(1, behind(limiter)))
    expect(await statusWith(expressRateLimit({ ...THEIR_ONE, store: BROKEN }))).toEqual([500])
    expect(await statusWith(rateLimit({ ...ONE, store: brokenStore() }))).toEqual([200])
    expect(await statusWith(rateLimit({ ...ONE, store: brokenStore(), onStoreError: 'deny' }))).toEqual([503])
  },
  'Header drafts.': async () => {
    const fields = async (limiter: RequestHandler) => {
      const [first] = await sendTimes(1, behind(limiter))
      return Object.entries(first?.headers ?? {}).filter(([name]) => name.startsWith('ratelimit'))
    }
    const drafts = { ...THEIR_ONE, legacyHeaders: false }
    expect(await fields(expressRateLimit({ ...drafts, standardHeaders: true }))).toEqual(
      Object.entries({
        'ratelimit-policy': '1;w=60',
        'ratelimit-limit': '1',
        'ratelimit-remaining': '0',
        'ratelimit-reset': '60',
      }),
    )
    expect(await fields(expressRateLimit({ ...drafts, standardHeaders: 'draft-7' }))).toEqual(
      Object.entries({ 'ratelimit-policy': '1;w=60', ratelimit: 'limit=1, remaining=0, reset=60' }),
    )
    expect(await fields(rateLimit({ ...ONE, headers: 'draft' }))).toEqual(
      expect.arrayContaining([['ratelimit', '"1-in-1min";r=0;t=60']]),
    )
  },
  'JSON.': async () => {
    expect(await denialTo('application/json', behind(expressRateLimit(THEIR_ONE)))).toEqual([
      429,
      'text/html',
    ])
    expect(await denialTo('application/json', behind(rateLimit(ONE)))).toEqual([429, PROBLEM])
    const message = 'Slow down'
    expect(await denialTo('application/json', behind(rateLimit({ ...ONE, message })))).toEqual([
      429,
      'text/plain',
    ])
  },
})

testBox('express-slow-down', {
  'Denials.': async () => {
    const theirs = slowDown({ windowMs: 60_000, delayAfter: 1, delayMs: () => 1 })
    expect(statusesOf(await sendTimes(3, behind(theirs)))).toEqual([200, 200, 200])
    const ours = rateLimit({ limit: 2, window: '1m', delay: requestDelay({ after: 1, by: () => 1 }) })
    expect(statusesOf(await sendTimes(3, behind(ours)))).toEqual([200, 200, 429])
  },
  'Longest delay.': async () => {
    const by = () => 20_000
    const timersOf = async (limiter: RequestHandler) => {
      const timer = jest.spyOn(globalThis, 'setTimeout')
      const target = await serve(behind(limiter))
      void send(target).catch(() => undefined) // ends with the server
      const delays = () => timer.mock.calls.map(([, ms = 0]) => ms).filter((ms) => ms % 10_000 === 0)
      await until('it is delayed', () => delays().includes(20_000) || delays().includes(10_000))
      const seen = delays()
      timer.mockRestore()
      return seen
    }
    expect(await timersOf(slowDown({ delayAfter: 0, delayMs: by }))).toContain(20_000)
    const ours = await timersOf(rateLimit({ limit: 9, window: '1m', delay: requestDelay({ after: 0, by }) }))
    expect(ours).not.toContain(20_000)
  },
  'Waiting requests.': async () => {
    /** What the first response says while one client waits with 501 requests. */
    const firstStatus = async (limiter: RequestHandler) => {
      const target = await serve(behind(limiter))
      const sent = Array.from({ length: 501 }, () => send(target))
      for (const each of sent) each.catch(() => undefined) // ends with the server
      return (await Promise.race(sent)).status
    }
    const by = () => 5_000
    expect(await firstStatus(slowDown({ delayAfter: 0, delayMs: by }))).toBe(200)
    expect(
      await firstStatus(rateLimit({ limit: 9_999, window: '1m', delay: requestDelay({ after: 0, by }) })),
    ).toBe(429)
  },
  'Headers.': async () => {
    const names = async (limiter: RequestHandler) => {
      const [first] = await sendTimes(1, behind(limiter))
      return Object.keys(first?.headers ?? {}).filter((name) => name.includes('ratelimit'))
    }
    const minute = fixedWindow({ limit: 1_000_000, window: '1m', startsAt: 'first-request' })
    const delay = requestDelay({ after: 5, by: '1s' })
    expect(await names(slowDown({ delayAfter: 5 }))).toEqual([])
    expect(await names(rateLimit({ policy: minute, delay }))).toHaveLength(3)
    expect(await names(rateLimit({ policy: minute, delay, headers: 'none' }))).toEqual([])
  },
})

type Register = (app: FastifyInstance) => unknown

/** An app of Fastify with a plugin, and its own handler of errors. */
async function fastifyWith(register: Register) {
  const app = Fastify()
  const errors: string[] = []
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    errors.push(error.message)
    void reply.code(error.statusCode ?? 500).send({ own: error.message })
  })
  await register(app)
  app.get('/', () => 'hello')
  await app.ready()
  closeWithServers(() => app.close())
  return { errors, listener: app.routing as Parameters<typeof sendTimes>[1] }
}

const theirs = (options: object = {}) =>
  fastifyWith((app) => app.register(fastifyRateLimit, { max: 1, timeWindow: 60_000, ...options }))
const ours = (options: object = {}) =>
  fastifyWith((app) => app.register(fastifyLimit, { ...ONE, ...options }))

class TooMany extends Error {
  readonly statusCode = 429
}

testBox('fastify-rate-limit', {
  '`setErrorHandler`': async () => {
    const errorsOf = async ({ errors, listener }: Awaited<ReturnType<typeof fastifyWith>>) => {
      expect(statusesOf(await sendTimes(2, listener))).toEqual([200, 429])
      return errors
    }
    expect(await errorsOf(await theirs())).toEqual(['Rate limit exceeded, retry in 1 minute'])
    expect(await errorsOf(await ours())).toEqual([])
    const onDenied = () => {
      throw new TooMany('Slow down')
    }
    expect(await errorsOf(await ours({ onDenied }))).toEqual(['Slow down'])
  },
  'Bodies.': async () => {
    for (const [accept, type] of [
      ['*/*', 'text/plain'],
      ['application/json', PROBLEM],
    ] as const) {
      expect(await denialTo(accept, (await theirs()).listener)).toEqual([429, 'application/json'])
      expect(await denialTo(accept, (await ours()).listener)).toEqual([429, type])
      const message = { error: 'Slow down' }
      expect(await denialTo(accept, (await ours({ message })).listener)).toEqual([429, 'application/json'])
    }
  },
  '`X-RateLimit-Reset`': async () => {
    const resetOf = async ({ listener }: Awaited<ReturnType<typeof fastifyWith>>) =>
      Number((await sendTimes(1, listener))[0]?.headers['x-ratelimit-reset'])
    expect(await resetOf(await theirs())).toBe(60)
    expect(await resetOf(await ours())).toBeGreaterThan(1e9)
    expect(await resetOf(await ours({ resetFormat: 'delta-seconds' }))).toBe(60)
  },
  'Unknown routes': async () => {
    const statusesFor = async ({ listener }: Awaited<ReturnType<typeof fastifyWith>>) =>
      statusesOf(await sendTimes(2, listener, { path: '/none' }))
    expect(await statusesFor(await theirs())).toEqual([404, 404])
    expect(await statusesFor(await ours())).toEqual([404, 429])
  },
  'A failing store.': async () => {
    class Broken {
      incr(_key: string, done: (error: Error) => void): void {
        done(new Error('connection lost'))
      }
      child() {
        return this
      }
    }
    expect(statusesOf(await sendTimes(1, (await theirs({ store: Broken })).listener))).toEqual([500])
    expect(statusesOf(await sendTimes(1, (await ours({ store: brokenStore() })).listener))).toEqual([200])
  },
})
