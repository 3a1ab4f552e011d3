import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import express, { type Request } from 'express'
import {
  createLimiter,
  type Decision,
  type DecisionMessage,
  fixedWindow,
  identitiesOf,
  memoryStore,
  quota,
  rateLimit,
  tokenBucket,
} from 'headgate'
import supertest from 'supertest'
import type { PartDecision } from '../../../src/limiter/decision.js'
import { brokenStore } from '../../support/fault-stores.js'

const received: DecisionMessage[] = []
const receive = (message: unknown) => void received.push(message as DecisionMessage)

beforeEach(() => {
  received.length = 0
  subscribe('headgate:decision', receive)
})
afterEach(() => void unsubscribe('headgate:decision', receive))

const key = (id: string) => id

describe('decision', () => {
  test('is emitted for each charge, whatever decided it, and not for a peek', async () => {
    const limiter = createLimiter({
      policy: fixedWindow({ limit: 1, window: '1h' }),
      key,
      skip: (id: string) => id === 'skipped',
      name: 'api',
    })
    const decisions: [Decision, string][] = []
    limiter.events.on('decision', (decision, subject) => decisions.push([decision, subject]))
    for (const id of ['a', 'a', 'skipped']) await limiter.charge(id)
    await limiter.peek('a')
    expect(decisions.map(([{ allowed, source }, id]) => [id, allowed, source])).toEqual([
      ['a', true, 'store'],
      ['a', false, 'store'],
      ['skipped', true, 'none'],
    ])
    expect(received.map(({ decision }) => decision)).toEqual(decisions.map(([decision]) => decision))
    expect(received[0]).toMatchObject({ limiter: 'api', mode: 'enforce', subject: 'a' })
  })

  test('is emitted where the store failed', async () => {
    const limiter = createLimiter({ limit: 1, window: '1m', key: () => 'a', store: brokenStore() })
    limiter.events.on('storeError', () => {})
    await limiter.charge({ ip: '192.0.2.7' })
    expect(received).toMatchObject([{ limiter: undefined, decision: { allowed: true, source: 'local' } }])
  })

  test('is emitted once for a request that waited', async () => {
    const policy = tokenBucket({ capacity: 1, refill: 100, every: '1s' })
    const limiter = createLimiter({ policy, key })
    await limiter.charge('a')
    await limiter.waitFor('a')
    expect(received.map(({ decision }) => decision.allowed)).toEqual([true, true])
  })

  test('is emitted for requests that middleware exempts or blocks', async () => {
    const limit = rateLimit({
      limit: 5,
      window: '1m',
      skip: (req) => req.path === '/health',
      allow: ['192.0.2.1'],
      block: ['198.51.100.0/24'],
    })
    const limited: unknown[] = []
    limit.limiter.events.on('denied', (decision) => limited.push(decision))
    const app = express().set('trust proxy', 1).use(limit)
    app.use((_req, res) => void res.end())
    const get = (path: string, ip: string) => supertest(app).get(path).set('X-Forwarded-For', ip)
    await get('/health', '203.0.113.5')
    await get('/', '192.0.2.1')
    await get('/', '198.51.100.7').expect(403)
    await get('/', '203.0.113.5')
    expect(received.map(({ decision: { allowed, source } }) => [allowed, source])).toEqual([
      [true, 'none'],
      [true, 'none'],
      [false, 'blocked'],
      [true, 'store'],
    ])
    expect(limited).toEqual([]) // it is for limits
  })

  test('says in report mode what the limits say, with the mode', async () => {
    const limiter = createLimiter({ limit: 1, window: '1m', key, mode: 'report' })
    expect([await limiter.charge('a'), await limiter.charge('a')]).toMatchObject([
      { allowed: true },
      { allowed: true },
    ])
    expect(received.map(({ mode, decision: { allowed } }) => [mode, allowed])).toEqual([
      ['report', true],
      ['report', false],
    ])
  })
})

describe('nearLimit', () => {
  function listening(policy = fixedWindow({ limit: 10, window: '1m' })) {
    let nowMs = Date.UTC(2026, 0, 5)
    const limiter = createLimiter({ policy, key, store: memoryStore({ clock: () => nowMs }) })
    const parts: [PartDecision, string][] = []
    limiter.events.on('nearLimit', (part, _decision, subject) => parts.push([part, subject]))
    const charge = async (id: string, times: number, cost = 1) => {
      for (let i = 0; i < times; i++) await limiter.charge(id, { cost })
      return parts.splice(0).map(([{ remaining }, subject]) => [subject, remaining])
    }
    const advance = (ms: number) => {
      nowMs += ms
    }
    return { charge, limiter, advance }
  }

  test('is emitted by the charge that crosses 80%, once for each client', async () => {
    const { charge } = listening()
    expect(await charge('a', 7)).toEqual([])
    expect(await charge('a', 1)).toEqual([['a', 2]])
    expect(await charge('a', 5)).toEqual([])
    expect(await charge('b', 10)).toEqual([['b', 2]])
    expect(await charge('c', 1, 10)).toEqual([['c', 0]])
  })

  test('is emitted once in each period of a quota', async () => {
    const { charge, advance } = listening(quota({ limit: 10, per: 'day' }))
    advance(20 * 3_600_000)
    expect(await charge('a', 10)).toEqual([['a', 2]])
    advance(3 * 3_600_000)
    expect(await charge('a', 1)).toEqual([])
    advance(3_600_000)
    expect(await charge('a', 10)).toEqual([['a', 2]])
  })

  test('is not emitted again within the window by a client that goes up and down', async () => {
    const { charge, advance } = listening(tokenBucket({ capacity: 10, refill: 10, every: '1m' }))
    expect(await charge('a', 8)).toEqual([['a', 2]])
    advance(6000)
    expect(await charge('a', 1)).toEqual([])
    advance(30_000)
    expect(await charge('a', 5)).toEqual([])
  })

  test('is emitted in each fixed window, whenever the client crosses 80% in it', async () => {
    const { charge, advance } = listening()
    let seconds = 0
    for (const next of [55, 112, 168, 223, 277]) {
      advance((next - seconds) * 1000)
      seconds = next
      expect([next, await charge('a', 9)]).toEqual([next, [['a', 2]]])
    }
  })

  test('is emitted again once a window that began with the first request has ended', async () => {
    const policy = fixedWindow({ limit: 10, window: '1m', startsAt: 'first-request' })
    const { charge, advance } = listening(policy)
    await charge('a', 1)
    advance(59_999)
    expect(await charge('a', 8)).toEqual([['a', 2]])
    advance(1)
    expect(await charge('a', 8)).toEqual([['a', 2]])
  })

  test('is emitted by the first charge after penalize or adjust has crossed 80%', async () => {
    const { charge, limiter } = listening(fixedWindow({ limit: 100, window: '1m' }))
    await limiter.penalize('a', 85)
    expect(await charge('a', 15)).toEqual([['a', 14]])
    await limiter.adjust(await limiter.charge('b'), 90)
    expect(await charge('b', 10)).toEqual([['b', 9]])
  })

  test('is not emitted for a peek, or a charge of 0', async () => {
    const { charge, limiter } = listening()
    await charge('a', 8)
    await limiter.peek('a')
    expect(await charge('a', 1, 0)).toEqual([])
    await limiter.penalize('b', 9)
    await limiter.peek('b')
    expect(await charge('b', 1, 0)).toEqual([])
  })
})

test('identitiesOf returns whom each limit charged, as stores keep it', async () => {
  const policy = fixedWindow({ limit: 5, window: '1m' })
  const limiter = createLimiter<Pick<Request, 'ip'> & { token: string }>({
    limits: [
      { name: 'address', policy },
      { name: 'token', policy, key: ({ token }) => token },
    ],
  })
  const decision = await limiter.charge({ ip: '192.0.2.1', token: 'secret-token' })
  const [address, token] = identitiesOf(decision)
  expect(address).toEqual({ limit: 'address', identity: '192.0.2.1' })
  expect(token?.limit).toBe('token')
  expect(token?.identity).not.toContain('secret-token')
  expect(identitiesOf({ ...decision })).toEqual([])
})
