import { setTimeout as pause } from 'node:timers/promises'
import express, { type Request } from 'express'
import { adjustments, byField, byIp, fixedWindow, loginGuard, memoryStore } from 'headgate'
import supertest from 'supertest'
import { brokenStore } from '../../support/fault-stores.js'
import { guardedLogin, RIGHT } from './guarded-login.js'

const MINUTE_MS = 60_000

/** Wrong guesses, one after the other, from one address or each from one of its own. */
async function guess(
  { attempt }: Pick<ReturnType<typeof guardedLogin>, 'attempt'>,
  count: number,
  from: string | ((i: number) => string) = '203.0.113.5',
): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) {
    const ip = typeof from === 'string' ? from : from(i)
    statuses.push((await attempt('ada', `wrong ${i}`, ip)).status)
  }
  return statuses
}

const elsewhere = (i: number) => `198.51.100.${i}`

test('of 100 wrong guesses at once, five reach the handler', async () => {
  const { attempt, reached } = guardedLogin()
  const answers = await Promise.all(Array.from({ length: 100 }, () => attempt('ada', 'wrong')))
  expect(reached).toHaveLength(5)
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(5)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(95)
})

test('one guesser leaves the account open for others, and many guessers close it for half an hour', async () => {
  const login = guardedLogin()
  expect(await guess(login, 6)).toEqual([401, 401, 401, 401, 401, 429])
  expect((await login.attempt('ada', RIGHT, '192.0.2.1')).status).toBe(200)
  expect(await guess(login, 12, elsewhere)).toEqual([...new Array(10).fill(401), 429, 429])
  expect((await login.attempt('ada', RIGHT, '192.0.2.1')).status).toBe(429)
  login.advance(33 * MINUTE_MS + 1)
  expect((await login.attempt('ada', RIGHT, '192.0.2.1')).status).toBe(200)
})

test('a slow guesser leaves the account open for others, too', async () => {
  const login = guardedLogin({ consecutive: false })
  for (let i = 0; i < 60; i++) {
    expect((await login.attempt('ada', `wrong ${i}`)).status).toBeGreaterThan(400)
    login.advance(3 * MINUTE_MS)
    const { parts } = await login.guard.limiter.peek({
      body: { username: 'ada' },
      ip: '192.0.2.1',
    } as Request)
    expect(parts.every(({ remaining }) => remaining > 0)).toBe(true)
  }
})

test('correct logins that arrive at once from one address are refused for a moment, and not banned', async () => {
  const names = Array.from({ length: 150 }, (_, i) => `user-${i}`)
  const login = guardedLogin({ succeeded: () => true }, 300)
  const first = await Promise.all(names.map((name) => login.attempt(name, 'right')))
  const refused = first.filter(({ status }) => status === 429).length
  expect(refused).toBeLessThanOrEqual(100)
  expect(refused).toBeGreaterThan(0)
  for (let i = 0; i < 4; i++) {
    const few = await Promise.all(names.slice(0, 40).map((name) => login.attempt(name, 'right')))
    expect(few.map(({ status }) => status)).not.toContain(429)
  }
})

test('an account has the same id in events as in keys, whatever its spelling', async () => {
  const login = guardedLogin({
    consecutive: 1,
    secret: 'sixteen characters or more',
  })
  const events: string[] = []
  login.guard.events.on('security', ({ event }) => events.push(event))
  await login.attempt('Ada ', 'wrong')
  const id = await login.guard.accountId({ body: { username: 'ADA' } })
  expect(events).toEqual([`authn_login_lock:${id},maxretries`])
  expect(await login.guard.accountId({ body: {} })).toBeUndefined()
})

test('a guesser who goes on is banned for longer each time, and attempts during a ban do not count', async () => {
  const login = guardedLogin({ limits: { account: fixedWindow({ limit: 1000, window: '1d' }) } })
  await guess(login, 10) // five denials
  for (const banMinutes of [30, 120, 360, 360]) {
    login.advance(banMinutes * MINUTE_MS - 1)
    expect(await guess(login, 1)).toEqual([429])
    login.advance(1)
    const statuses = await guess(login, 10)
    expect({ banMinutes, first: statuses[0], last: statuses[9] }).toEqual({
      banMinutes,
      first: 401,
      last: 429,
    })
  }
})

test('a success clears the failures of its account, and none of its address', async () => {
  const login = guardedLogin({ limits: { address: fixedWindow({ limit: 8, window: '1d' }) } })
  await guess(login, 4)
  expect((await login.attempt('ada', RIGHT)).status).toBe(200)
  expect(await guess(login, 6)).toEqual([401, 401, 401, 401, 429, 429]) // the address has failed 8 times
  expect((await login.attempt('ada', RIGHT, '192.0.2.1')).status).toBe(200)
})

test('a guard without a count in a row applies each outcome to the limits that it has', async () => {
  const guard = loginGuard({ field: 'username', consecutive: false })
  const problems: unknown[] = []
  guard.limiter.events.on('refundFailed', (error) => problems.push(error))
  const app = express().post(
    '/login',
    express.json(),
    guard,
    (req, res) => void res.sendStatus(req.body.status),
  )
  const ada = { username: 'ada' }
  const remaining = async () => {
    const { parts } = await guard.limiter.peek({ body: ada, ip: '127.0.0.1' } as Request)
    return Object.fromEntries(parts.map((part) => [part.name, part.remaining]))
  }
  for (const status of [503, 401])
    await supertest(app)
      .post('/login')
      .send({ ...ada, status })
  expect(await remaining()).toMatchObject({ 'account-and-address': 3 })
  await supertest(app)
    .post('/login')
    .send({ ...ada, status: 200 })
  expect(await remaining()).toMatchObject({ 'account-and-address': 5 })
  expect(problems).toEqual([])
})

test('a login with an account of one’s own grants no guesses at another', async () => {
  const login = guardedLogin()
  const statuses: number[] = []
  for (let i = 0; i < 8; i++) {
    statuses.push(
      (await login.attempt('ada', 'wrong')).status,
      (await login.attempt('grace', 'nanoseconds')).status,
    )
  }
  expect(statuses).toEqual([401, 200, 401, 200, 401, 200, 401, 200, 401, 200, 429, 200, 429, 200, 429, 200])
})

test('a hundred failures in a row lock the account until it is forgotten, and onLockout is called once', async () => {
  const locked: string[] = []
  const login = guardedLogin({ onLockout: (account) => locked.push(account) })
  let failures = 0
  for (let round = 0; round < 12; round++) {
    failures += (await guess(login, 10, (i) => `198.51.${round}.${i}`)).filter(
      (status) => status === 401,
    ).length
    login.advance(40 * MINUTE_MS)
  }
  expect({ failures, locked }).toEqual({ failures: 100, locked: ['ada'] })
  login.advance(365 * 24 * 60 * MINUTE_MS)
  expect((await login.attempt('ADA', RIGHT, '192.0.2.1')).status).toBe(429)
  expect((await login.attempt('grace', 'nanoseconds', '192.0.2.1')).status).toBe(200)
  await adjustments(login.guard.limiter).forget({ body: { username: 'ada' } })
  expect((await login.attempt('ada', RIGHT, '192.0.2.1')).status).toBe(200)
})

test.each(['ada', undefined])('forget of %p says what to pass', async (subject) => {
  const { guard } = guardedLogin()
  await expect(adjustments(guard.limiter).forget(subject as never)).rejects.toThrow(
    'subject of forget must be a request, a decision or { body }, got',
  )
})

test('forget releases an account, an address, or both', async () => {
  const login = guardedLogin()
  const { forget } = adjustments(login.guard.limiter)
  await guess(login, 5)
  await forget({ ip: '203.0.113.5' })
  expect(await guess(login, 1)).toEqual([429]) // the account, from there
  await forget({ body: { username: 'Ada ' }, ip: '203.0.113.5' })
  expect(await guess(login, 5)).toEqual([401, 401, 401, 401, 401])
})

test('a success refunds the address only its own unit, also when it overlaps with failures', async () => {
  const login = guardedLogin({ limits: { address: fixedWindow({ limit: 6, window: '1d' }) } })
  await Promise.all([
    login.attempt('ada', RIGHT),
    ...[1, 2, 3].map((i) => login.attempt(`user-${i}`, 'wrong')),
  ])
  const { parts } = await login.guard.limiter.peek({ ip: '203.0.113.5' } as Request)
  expect(parts[0]).toMatchObject({ name: 'address', remaining: 3 })
})

test('an account function is called once for each attempt', async () => {
  const read: string[] = []
  const login = guardedLogin({
    account: async (req) => {
      await null
      read.push(String(req.body.username))
      return `user:${req.body.username}`
    },
    name: 'login',
    deviceCookie: { secret: 'sixteen characters or more' },
  })
  expect(await guess(login, 6)).toEqual([401, 401, 401, 401, 401, 429])
  expect(read).toHaveLength(6)
  expect((await login.attempt('grace', 'nanoseconds')).status).toBe(200)
})

/** Removes accents; a hyphen becomes an invisible character, which no name may hold. */
const normalize = (name: string) => name.normalize('NFD').replace(/\p{M}/gu, '').replace('-', '\u200d')

test.each([
  ['normalize', { normalize }],
  ['byField with normalize as the account', { account: byField('username', { normalize }) }],
])('%s replaces the folding, and names have no invisible characters', async (_how, options) => {
  const login = guardedLogin(options)
  const statuses: number[] = []
  for (const name of ['ada', 'adá', 'ádá', 'äda', 'àda', 'adâ'])
    statuses.push((await login.attempt(name, 'wrong')).status)
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
  expect((await login.attempt('Ada', 'wrong')).status).toBe(401) // another name: case is not folded
  for (const malformed of ['ad\u0001a', 'ad-a'])
    expect((await login.attempt(malformed, 'wrong')).status).toBe(400)
})

test('an error in the account function goes to next, and the handler is not reached', async () => {
  const login = guardedLogin({
    account: () => {
      throw new Error('no session')
    },
  })
  expect((await login.attempt('ada', RIGHT)).status).toBe(500)
  expect(login.reached).toEqual([])
})

test('in report mode every attempt is charged and none is refused', async () => {
  const login = guardedLogin({ mode: 'report' })
  expect(await guess(login, 7)).toEqual(new Array(7).fill(401))
  expect((await login.attempt(['ada'], 'wrong')).status).toBe(401)
  const decision = await login.guard.limiter.peek({ body: { username: 'ada' }, ip: '203.0.113.5' } as Request)
  expect(decision.remaining).toBe(0)
})

test('skip and allow let requests pass uncharged, and block refuses them', async () => {
  const login = guardedLogin({
    skip: (req) => req.headers.cookie === 'skip=1',
    allow: ['192.0.2.0/24'],
    block: ['192.0.2.66'],
  })
  expect(await guess(login, 7, '192.0.2.1')).toEqual(new Array(7).fill(401))
  expect(await guess(login, 1, '192.0.2.66')).toEqual([403])
  for (let i = 0; i < 7; i++)
    expect((await login.attempt('ada', 'wrong', '203.0.113.5', 'skip=1')).status).toBe(401)
  expect(await guess(login, 6)).toEqual([401, 401, 401, 401, 401, 429])
})

test('the option address replaces how addresses are read', async () => {
  const login = guardedLogin({ address: byIp({ ipv6Prefix: 64 }) })
  expect(await guess(login, 6, (i) => `2001:db8:0:${i}::1`)).toEqual(new Array(6).fill(401))
})

test('a second guard without a name on a store is rejected, and one with a name is not', () => {
  const store = memoryStore()
  loginGuard({ field: 'username', store })
  expect(() => loginGuard({ field: 'code', store })).toThrow(
    'loginGuard: this store already serves a limiter without a name',
  )
  expect(() => loginGuard({ field: 'code', store, name: 'otp' })).not.toThrow()
  expect(() => loginGuard({ field: 'username', store, prefix: 'other' })).not.toThrow()
  expect(() => loginGuard({ field: 'username' })).not.toThrow()
})

test('skip, allow and block are applied before a malformed name is refused', async () => {
  const login = guardedLogin({
    skip: (req) => req.headers.cookie === 'skip=1',
    allow: ['192.0.2.0/24'],
    block: ['192.0.2.66'],
  })
  const status = async (from: string, cookie?: string) =>
    (await login.attempt(['ada'], 'x', from, cookie)).status
  expect(await status('203.0.113.5')).toBe(400)
  expect(await status('203.0.113.5', 'skip=1')).toBe(401)
  expect(await status('192.0.2.1')).toBe(401)
  expect(await status('192.0.2.66')).toBe(403)
})

test('a peek before the body parser does not fix the account of the attempt', async () => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const guard = loginGuard({ field: 'username' })
  const app = express()
  app.post(
    '/login',
    async (req, _res, next) => {
      await guard.limiter.peek(req)
      next()
    },
    express.json(),
    guard,
    (_req, res) => void res.sendStatus(401),
  )
  expect((await supertest(app).post('/login').send({ username: 'ada' })).status).toBe(401)
  jest.restoreAllMocks()
})

test('in report mode a correct login clears its account, and onLockout is not called', async () => {
  const locked: string[] = []
  const login = guardedLogin({ mode: 'report', consecutive: 3, onLockout: (account) => locked.push(account) })
  await guess(login, 5)
  expect((await login.attempt('ada', RIGHT)).status).toBe(200)
  const { parts } = await login.guard.limiter.peek({ body: { username: 'ada' }, ip: '192.0.2.1' } as Request)
  expect(parts.find(({ name }) => name === 'consecutive')?.remaining).toBe(3)
  expect(locked).toEqual([])
})

test('server errors are failures, but not in a row, and so lock nobody', async () => {
  const locked: string[] = []
  const guard = loginGuard({
    field: 'username',
    consecutive: 3,
    limits: { account: fixedWindow({ limit: 100, window: '1d' }) },
    onLockout: (account) => locked.push(account),
  })
  const events: string[] = []
  guard.events.on('security', ({ event }) => events.push(event.replace(/:.*,/, ':…,')))
  const app = express().post('/login', express.json(), guard, (_req, res) => void res.sendStatus(503))
  for (let i = 0; i < 7; i++) await supertest(app).post('/login').send({ username: 'ada' })
  const { parts } = await guard.limiter.peek({ ip: '192.0.2.1', body: { username: 'ada' } } as Request)
  expect(parts.map(({ name, remaining }) => [name, remaining]).slice(1)).toEqual([
    ['account-and-address', 5],
    ['account', 95],
    ['consecutive', 3],
  ])
  expect(events).toEqual(['authn_login_fail_max:…,5'])
  expect(locked).toEqual([])
})

describe('onLockout', () => {
  /** Guards in several processes that share a store, and the accounts that `onLockout` was called with. */
  function processes(count: number) {
    const store = memoryStore()
    const locked: string[] = []
    const many = fixedWindow({ limit: 100, window: '1d' })
    const made = Array.from({ length: count }, () => {
      const guard = loginGuard({
        field: 'username',
        name: 'shared',
        store,
        consecutive: 3,
        limits: { accountAndAddress: many, account: many },
        onLockout: (account) => locked.push(account),
      })
      const served = express().post('/login', express.json(), guard, async (req, res) => {
        if (req.body.waits) await pause(req.body.waits)
        res.sendStatus(req.body.status)
      })
      const attempt = async (status = 401, waits = 0) =>
        (await supertest(served).post('/login').send({ username: 'ada', status, waits })).status
      return { guard, attempt }
    })
    return { locked, made: made as [(typeof made)[0], (typeof made)[0]] }
  }

  test('is called once for a lock, in one of the processes, and again only after a forget', async () => {
    const { locked, made } = processes(2)
    const [one, other] = made
    const attempts = [one, other, one, other, one]
    for (const [i, { attempt }] of attempts.entries()) expect(await attempt()).toBe(i < 3 ? 401 : 429)
    expect(locked).toEqual(['ada'])
    await adjustments(other.guard.limiter).forget({ body: { username: 'ada' } })
    for (let i = 0; i < 4; i++) await one.attempt()
    expect(locked).toEqual(['ada', 'ada'])
  })

  test('is not called while a correct login is in progress with the last unit', async () => {
    const { locked, made } = processes(1)
    const [{ attempt }] = made
    for (let i = 0; i < 2; i++) await attempt()
    expect((await Promise.all([attempt(200, 100), attempt(200, 100)])).sort()).toEqual([200, 429])
    expect(await attempt()).toBe(401)
    expect(locked).toEqual([])
  })

  test('is called anew where a success has cleared the row in between', async () => {
    const { locked, made } = processes(1)
    const [{ attempt }] = made
    await attempt()
    const success = attempt(200, 150)
    await pause(50)
    expect(await attempt()).toBe(401) // the third in a row: the success is still charged
    expect(locked).toEqual(['ada'])
    expect(await success).toBe(200)
    await pause(20)
    for (let i = 0; i < 3; i++) expect(await attempt()).toBe(401)
    expect(locked).toEqual(['ada', 'ada'])
  })
})

test('a refusal by the local fallback is not a lock', async () => {
  const events: string[] = []
  const login = guardedLogin({
    store: brokenStore(),
    onStoreError: 'local',
    fallbackShare: 1 / 4,
    consecutive: 4,
    onLockout: (account) => events.push(account),
  })
  login.guard.limiter.events.on('storeError', () => undefined)
  expect(await guess(login, 3)).toEqual([401, 429, 429])
  expect(events).toEqual([])
})

test('an address that can no longer be read is left out of events', async () => {
  let reads = 0
  const address = () => {
    if (reads++ > 0) throw new Error('the connection is gone')
    return 'here'
  }
  const events: unknown[] = []
  const login = guardedLogin({ address, limits: { account: fixedWindow({ limit: 1, window: '1d' }) } })
  login.guard.events.on('security', (event) => events.push(event))
  expect((await login.attempt('ada', 'wrong')).status).toBe(401)
  expect(events).toEqual([expect.not.objectContaining({ source_ip: expect.anything() })])
})
