import express from 'express'
import { byField, byIp, memoryStore, slidingWindow, tokenBucket } from 'headgate'
import { type RateLimitOptions, rateLimit } from 'headgate/http'
import { promisingStore } from '../support/fault-stores.js'
import { EXPRESS_5, FRAMEWORKS, type Handler } from '../support/frameworks.js'
import { gate, sendAndHangUp } from '../support/hang-up.js'
import { closeServers, send, serve, statuses } from '../support/http.js'
import { nextTurn } from '../support/next-turn.js'
import { HTTP1 } from '../support/protocols.js'
import { storeOf } from '../support/store-of.js'
import { recordWarnings } from '../support/warnings.js'

const warnings = recordWarnings()
afterEach(closeServers)

/** Answers with the status in the query. */
const answerWithStatus: Handler = (req, res) => {
  res.statusCode = Number(req.url?.slice(2))
  res.end()
}
const withStatus = (...codes: number[]) => codes.map((code) => ({ path: `/?${code}` }))

type Count = RateLimitOptions<never, never>['count']
const twoPerMinute = (count: Count) =>
  rateLimit({ limit: 2, window: '1m', count: count as 'all', store: memoryStore({ clock: () => 0 }) })

describe.each(FRAMEWORKS)('on $name', ({ app }) => {
  test("'failed' refunds what succeeded, and leaves what failed charged", async () => {
    const served = await serve(app(twoPerMinute('failed'), answerWithStatus))
    const requests = withStatus(200, 204, 302, 399, 400, 200, 500, 200)
    expect(await statuses(served, requests)).toEqual([200, 204, 302, 399, 400, 200, 500, 429])
  })

  test("'successful' refunds what failed, and leaves what succeeded charged", async () => {
    const served = await serve(app(twoPerMinute('successful'), answerWithStatus))
    const requests = withStatus(400, 404, 500, 503, 200, 404, 302, 404)
    expect(await statuses(served, requests)).toEqual([400, 404, 500, 503, 200, 404, 302, 429])
  })

  test.each(['sync', 'async'])('a function decides what counts (%s)', async (how) => {
    const count: Count = (_req: unknown, res: { statusCode: number }) => {
      const counts = res.statusCode === 401
      return how === 'async' ? Promise.resolve(counts) : counts
    }
    const served = await serve(app(twoPerMinute(count), answerWithStatus))
    expect(await statuses(served, withStatus(200, 500, 401, 200, 401, 200))).toEqual([
      200, 500, 401, 200, 401, 429,
    ])
  })
})

const { app } = EXPRESS_5

test('a request is charged before the handler runs, and refunded after it answered', async () => {
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

test('a denied request gets no refund', async () => {
  const served = await serve(app(twoPerMinute('successful'), answerWithStatus))
  expect(await statuses(served, withStatus(200, 200, 200, 200, 200))).toEqual([200, 200, 429, 429, 429])
})

test('all limits of a charge are refunded, by a store that answers with promises', async () => {
  const store = promisingStore()
  const policy = slidingWindow({ limit: 2, window: '1m' })
  const limits = [
    { name: 'ip', policy, key: byIp() },
    { name: 'all', policy, key: () => 'everybody', cost: 2 },
  ]
  const served = await serve(app(rateLimit({ store, limits, count: 'failed' }), answerWithStatus))
  expect(await statuses(served, withStatus(200, 200, 401, 401))).toEqual([200, 200, 401, 429])
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
])(
  'a count function that %s leaves the request charged, and is emitted as refundFailed',
  async (_how, count) => {
    const limiter = twoPerMinute(count)
    const failures: unknown[] = []
    limiter.limiter.events.on('refundFailed', (error, decision) =>
      failures.push([String(error), decision?.remaining]),
    )
    const served = await serve(app(limiter, answerWithStatus))
    expect(await statuses(served, withStatus(200, 200, 200))).toEqual([200, 200, 429])
    expect(failures).toEqual([
      ['Error: no session', 1],
      ['Error: no session', 0],
    ])
  },
)

test('a refund that the store cannot make is emitted as refundFailed', async () => {
  const refund = () => Promise.reject(new Error('connection lost'))
  const store = storeOf({ ...promisingStore(), refund })
  const limiter = rateLimit({ limit: 2, window: '1m', store, count: 'failed' })
  const failures: string[] = []
  limiter.limiter.events.on('refundFailed', (error) => failures.push(String(error)))
  const served = await serve(app(limiter, answerWithStatus))
  expect(await statuses(served, withStatus(200, 200))).toEqual([200, 200])
  expect(failures).toEqual([
    expect.stringContaining('connection lost'),
    expect.stringContaining('connection lost'),
  ])
})

test('a failed refund emits a process warning if there is no listener', async () => {
  const limiter = twoPerMinute(() => Promise.reject(new Error('no session')))
  const served = await serve(app(limiter, answerWithStatus))
  await send(served, { path: '/?200' })
  await nextTurn()
  expect(warnings()).toEqual(['HEADGATE_REFUND_FAILED'])
  expect(process.emitWarning).toHaveBeenCalledWith(expect.stringContaining('no session'), expect.anything())
})

describe("a client that hangs up before the answer stays charged with count: 'failed'", () => {
  async function hangUp(...before: Handler[]) {
    const limiter = twoPerMinute('failed')
    const reached = jest.fn()
    const endpoint = await HTTP1.serve(app(...before, limiter, reached))
    return { limiter, reached, ...(await sendAndHangUp(endpoint)) }
  }

  test('even if the handler answers in the end', async () => {
    const { limiter, reached, req, res } = await hangUp()
    expect(reached).toHaveBeenCalledTimes(1)
    res.end('too late')
    await nextTurn()
    expect(await limiter.limiter.peek(req)).toMatchObject({ remaining: 1 })
  })

  test('even if it hung up before the request reached the limiter', async () => {
    const { handler, open } = gate()
    const { limiter, reached, req, res } = await hangUp(handler)
    Object.defineProperty(req.socket, 'remoteAddress', { value: '127.0.0.1' }) // a closed socket has none
    open()
    expect(reached).toHaveBeenCalledTimes(1)
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
