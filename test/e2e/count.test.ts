import { once } from 'node:events'
import net from 'node:net'
import express from 'express'
import {
  byField,
  byIp,
  memoryStore,
  type RateLimitOptions,
  rateLimit,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { nextTurn } from '../support/exchange.js'
import { promisingStore } from '../support/fault-stores.js'
import { EXPRESS_5, FRAMEWORKS, type Handler } from '../support/frameworks.js'
import { closeServers, send, serve, statuses } from '../support/http.js'

afterEach(closeServers)

/** Answers with the status that the query asks for. */
const answerAsAsked: Handler = (req, res) => {
  res.statusCode = Number(req.url?.slice(2))
  res.end()
}
const asking = (...codes: number[]) => codes.map((code) => ({ path: `/?${code}` }))

type Count = RateLimitOptions<never, never>['count']
const twoPerMinute = (count: Count) =>
  rateLimit({ limit: 2, window: '1m', count: count as 'all', store: memoryStore({ clock: () => 0 }) })

describe.each(FRAMEWORKS)('on $name', ({ app }) => {
  test("'failed' gives back what succeeded, and keeps what failed", async () => {
    const served = await serve(app(twoPerMinute('failed'), answerAsAsked))
    const asked = asking(200, 204, 302, 399, 400, 200, 500, 200)
    expect(await statuses(served, asked)).toEqual([200, 204, 302, 399, 400, 200, 500, 429])
  })

  test("'successful' gives back what failed, and keeps what succeeded", async () => {
    const served = await serve(app(twoPerMinute('successful'), answerAsAsked))
    const asked = asking(400, 404, 500, 503, 200, 404, 302, 404)
    expect(await statuses(served, asked)).toEqual([400, 404, 500, 503, 200, 404, 302, 429])
  })

  test.each(['sync', 'async'])('a function decides what counts (%s)', async (how) => {
    const count: Count = (_req: unknown, res: { statusCode: number }) => {
      const counts = res.statusCode === 401
      return how === 'async' ? Promise.resolve(counts) : counts
    }
    const served = await serve(app(twoPerMinute(count), answerAsAsked))
    expect(await statuses(served, asking(200, 500, 401, 200, 401, 200))).toEqual([
      200, 500, 401, 200, 401, 429,
    ])
  })
})

const { app } = EXPRESS_5

test('units are taken before the handler runs, and given back after it answered', async () => {
  const limiter = twoPerMinute('failed')
  const during: number[] = []
  const look: Handler = async (req, res) => {
    during.push((await limiter.limiter.peek(req)).remaining)
    res.end()
  }
  const served = await serve(app(limiter, look))
  await send(served)
  await send(served)
  expect(during).toEqual([1, 1])
})

test('a denied request gives nothing back', async () => {
  const served = await serve(app(twoPerMinute('successful'), answerAsAsked))
  expect(await statuses(served, asking(200, 200, 200, 200, 200))).toEqual([200, 200, 429, 429, 429])
})

test('all limits of a charge are given back, to a store that answers with promises', async () => {
  const store = promisingStore()
  const policy = slidingWindow({ limit: 2, window: '1m' })
  const limits = [
    { name: 'ip', policy, key: byIp() },
    { name: 'all', policy, key: () => 'everybody', cost: 2 },
  ]
  const served = await serve(app(rateLimit({ store, limits, count: 'failed' }), answerAsAsked))
  expect(await statuses(served, asking(200, 200, 401, 401))).toEqual([200, 200, 401, 429])
  expect(store.refunds.map(({ cost }) => cost)).toEqual([1, 2, 1, 2])
})

test.each([
  [
    'throws',
    () => {
      throw new Error('no session')
    },
  ],
  ['rejects', () => Promise.reject(new Error('no session'))],
])('a count function that %s keeps the units, and is told as refundFailed', async (_how, count) => {
  const limiter = twoPerMinute(count)
  const failures: unknown[] = []
  limiter.limiter.events.on('refundFailed', (error, decision) =>
    failures.push([String(error), decision.remaining]),
  )
  const served = await serve(app(limiter, answerAsAsked))
  expect(await statuses(served, asking(200, 200, 200))).toEqual([200, 200, 429])
  expect(failures).toEqual([
    ['Error: no session', 1],
    ['Error: no session', 0],
  ])
})

test('a store that cannot take units back is told as refundFailed', async () => {
  const store = { ...promisingStore(), refund: () => Promise.reject(new Error('connection lost')) }
  const limiter = rateLimit({ limit: 2, window: '1m', store, count: 'failed' })
  const failures: string[] = []
  limiter.limiter.events.on('refundFailed', (error) => failures.push(String(error)))
  const served = await serve(app(limiter, answerAsAsked))
  expect(await statuses(served, asking(200, 200))).toEqual([200, 200])
  expect(failures).toEqual([
    expect.stringContaining('connection lost'),
    expect.stringContaining('connection lost'),
  ])
})

test('a refund that failed is told as a process warning where nobody listens', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const limiter = twoPerMinute(() => Promise.reject(new Error('no session')))
  const served = await serve(app(limiter, answerAsAsked))
  await send(served, { path: '/?200' })
  await nextTurn()
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('no session'), expect.anything())
  warn.mockRestore()
})

describe('a client that hangs up before the answer gets nothing back', () => {
  async function hangUp(...before: Handler[]) {
    const limiter = twoPerMinute('failed')
    const waiting: Parameters<Handler>[] = []
    const work: Handler = (...args) => waiting.push(args)
    const served = await serve(app(...before, limiter, work))
    const socket = net.connect(served.port, '127.0.0.1')
    const arrived = once(served.server, 'request')
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    const [req, res] = await arrived
    const closed = once(res, 'close')
    socket.destroy()
    await closed
    return { limiter, waiting, req, res }
  }

  test('when the handler answers in the end all the same', async () => {
    const { limiter, waiting, req, res } = await hangUp()
    expect(waiting).toHaveLength(1)
    res.end('too late')
    await nextTurn()
    expect(await limiter.limiter.peek(req)).toMatchObject({ remaining: 1 })
  })

  test('when it was gone before the limiter was asked', async () => {
    const held: (() => void)[] = []
    const hold: Handler = (_req, _res, next) => held.push(() => next())
    const { limiter, waiting, req, res } = await hangUp(hold)
    Object.defineProperty(req, 'ip', { value: '127.0.0.1' }) // the closed socket no longer tells
    for (const go of held) go()
    expect(waiting).toHaveLength(1)
    res.end('too late')
    await nextTurn()
    expect(await limiter.limiter.peek(req)).toMatchObject({ remaining: 1 })
  })
})

test('of 100 wrong logins at once with a limit of 5, at most 5 reach the handler', async () => {
  const reached = jest.fn()
  const login: express.RequestHandler = (req, res) => {
    reached(req.body)
    setImmediate(() => res.sendStatus(401))
  }
  const limiter = rateLimit({
    store: promisingStore(),
    policy: tokenBucket({ capacity: 5, refill: 5, every: '1h' }),
    key: byField('username'),
    count: 'failed',
  })
  const served = await serve(express().post('/login', express.urlencoded(), limiter, login))
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      send(served, {
        method: 'POST',
        path: '/login',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `username=bob&password=${i}`,
      }),
    ),
  )
  expect(reached).toHaveBeenCalledTimes(5)
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(401), ...Array(95).fill(429)])
})
