import express from 'express'
import { createLimiter, loginGuard, rateLimit } from 'headgate'
import supertest from 'supertest'
import { nextTurn } from '../../support/next-turn.js'

const key = () => 'a'

test('the mode of middleware can be switched while it runs', async () => {
  const limit = rateLimit({ limit: 1, window: '1m', mode: 'report', block: ['192.0.2.1'] })
  const app = express().set('trust proxy', 1).use(limit)
  app.use((_req, res) => void res.end())
  const statusOf = async (ip: string) => (await supertest(app).get('/').set('X-Forwarded-For', ip)).status
  expect(limit.limiter.mode).toBe('report')
  expect([await statusOf('203.0.113.5'), await statusOf('203.0.113.5')]).toEqual([200, 200])
  expect(await statusOf('192.0.2.1')).toBe(200)
  limit.limiter.mode = 'enforce'
  expect([await statusOf('203.0.113.5'), await statusOf('192.0.2.1')]).toEqual([429, 403])
  limit.limiter.mode = 'report'
  expect([await statusOf('203.0.113.5'), await statusOf('192.0.2.1')]).toEqual([200, 200])
})

test('the mode of a limiter without HTTP can be switched, and nobody waits in report mode', async () => {
  const limiter = createLimiter({ limit: 1, window: '1h', key })
  const outcomes = async () => [
    (await limiter.charge({ ip: '192.0.2.7' })).allowed,
    (await limiter.waitFor({ ip: '192.0.2.7' }, { maxWait: '1ms' })).allowed,
  ]
  await limiter.charge({ ip: '192.0.2.7' })
  expect(await outcomes()).toEqual([false, false])
  limiter.mode = 'report'
  expect(await outcomes()).toEqual([true, true])
  limiter.mode = 'enforce'
  expect(await outcomes()).toEqual([false, false])
})

test('those who wait for an hour already stop when the mode becomes report', async () => {
  const limiter = createLimiter({ limit: 1, window: '1h', key: (id: string) => id })
  const limited: string[] = []
  limiter.events.on('denied', (_decision, id) => limited.push(id))
  for (const id of ['a', 'b']) await limiter.charge(id)
  const waiting = ['a', 'a', 'a', 'b'].map((id) => limiter.waitFor(id))
  await nextTurn()
  expect(limited).toEqual([])
  limiter.mode = 'report'
  const decisions = await Promise.all(waiting)
  expect(decisions.map(({ allowed, remaining }) => [allowed, remaining])).toEqual(Array(4).fill([true, 0]))
  expect([...limited].sort()).toEqual(['a', 'a', 'a', 'b'])
  limiter.mode = 'enforce'
  expect(await limiter.waitFor('a', { maxWait: '1ms' })).toMatchObject({ allowed: false })
})

test('the mode of a login guard can be switched', async () => {
  const locked: string[] = []
  const guard = loginGuard({
    field: 'username',
    consecutive: 1,
    mode: 'report',
    onLockout: (account) => void locked.push(account),
  })
  const app = express().post('/login', express.json(), guard, (_req, res) => void res.sendStatus(401))
  const fail = async (username: string) => (await supertest(app).post('/login').send({ username })).status
  expect([await fail('ada'), await fail('ada'), locked]).toEqual([401, 401, []])
  guard.limiter.mode = 'enforce'
  expect([await fail('ada'), locked]).toEqual([429, []])
  expect([await fail('grace'), locked]).toEqual([401, ['grace']])
})

test('another mode is a TypeError, and changes nothing', () => {
  const limiter = createLimiter({ limit: 1, window: '1m', key })
  expect(() => {
    limiter.mode = 'off' as never
  }).toThrow(`createLimiter: mode must be one of 'enforce', 'report', got "off".`)
  expect(limiter.mode).toBe('enforce')
})
