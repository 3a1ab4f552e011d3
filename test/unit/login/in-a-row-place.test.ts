import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import { type LoginGuard, type LoginGuardOptions, loginGuard, memoryStore } from 'headgate'
import supertest from 'supertest'
import { recordWarnings } from '../../support/warnings.js'
import { attemptsLeft } from './attempt-outcome.js'

type Options = Partial<LoginGuardOptions<Request, Response>>
type Method = 'post' | 'put' | 'get' | 'delete'

const warnings = recordWarnings()

const respond: RequestHandler = (req, res) => void res.sendStatus(req.body?.status ?? 200)

type Mount = (app: Express, guard: LoginGuard) => unknown

/** Starts a login, and returns what sends it statuses, and how many failures in a row are counted then. */
function start(mount: Mount, options: Options = {}) {
  const guard = loginGuard<Request, Response>({ field: 'username', store: memoryStore(), ...options })
  const app = express().use(express.json())
  mount(app, guard)
  return async (method: Method, path: string, ...statuses: number[]) => {
    for (const status of statuses) await supertest(app)[method](path).send({ username: 'ada', status })
    return 100 - ((await attemptsLeft(guard, 'consecutive')) as number)
  }
}

const ofStatus: Options = { succeeded: (_req, res) => res.statusCode < 300 }

test.each<[string, Method, Mount, Options]>([
  ['without a path', 'post', (app, guard) => app.use(guard, respond), {}],
  [
    'with a path that is not the one of the login',
    'post',
    (app, guard) => app.post('/login', guard, respond),
    { path: '/api/login' },
  ],
  [
    'in two routes',
    'post',
    (app, guard) => app.post('/login', guard, respond).post('/forgot', guard, respond),
    {},
  ],
  ['in a route for GET', 'get', (app, guard) => app.get('/login', guard, respond), {}],
  ['in a route for PUT', 'put', (app, guard) => app.put('/login', guard, respond), {}],
])(
  'a guard %s does not count failures in a row, so that none are left for years',
  async (_how, method, mount, options) => {
    const send = start(mount, options)
    expect(await send(method, '/login', 401, 401, 200, 401, 401)).toBe(0)
    expect(warnings()).toEqual(['HEADGATE_LOGIN_PATH'])
  },
)

test.each<[Method, Options]>([
  ['put', {}],
  ['get', { path: '/login' }],
  ['delete', { path: '/login' }],
])(
  'where succeeded decides by %s with %j, failures count in a row, whatever their status',
  async (method, options) => {
    for (const status of [401, 403, 302]) {
      const mount: Mount = (app, guard) => app[method]('/login', guard, respond)
      const send = start(mount, { ...ofStatus, ...options })
      expect(await send(method, '/login', status, status)).toBe(2)
      expect(await send(method, '/login', 200, status)).toBe(1)
    }
    expect(warnings()).toEqual([])
  },
)

test('where only a 401 of this process shows the login, failures do not count, and path is the fix', async () => {
  for (const options of [ofStatus, { ...ofStatus, consecutive: false } as const]) {
    const guard = loginGuard<Request, Response>({ field: 'username', store: memoryStore(), ...options })
    const app = express().use(express.json()).get('/login', guard, respond)
    for (const status of [401, 401, 200, 401])
      await supertest(app).get('/login').send({ username: 'ada', status })
    expect(await attemptsLeft(guard)).toBe(9)
    expect((await attemptsLeft(guard, 'consecutive')) ?? 100).toBe(100)
    expect(warnings()).toEqual(['HEADGATE_LOGIN_PATH'])
  }
  const [message] = jest.mocked(process.emitWarning).mock.calls[0] ?? []
  expect(message).toContain('loginGuard "login" does not count failures in a row ("GET /login")')
  expect(message).toContain("Set path, such as path: '/login'")
})

test('once a request shows the guard in a second route, failures in the first one no longer count', async () => {
  const hide: RequestHandler = (req, res, next) => hidden(req, res, next)
  let hidden: RequestHandler = respond
  const send = start((app, guard) => {
    hidden = guard
    app.post('/login', guard, respond).post('/forgot', hide, respond)
  })
  expect(await send('post', '/login', 200, 401)).toBe(1)
  expect(await send('post', '/forgot', 200)).toBe(1)
  expect(await send('post', '/login', 401, 401)).toBe(1)
})

test('once a path has taken a form, a success by another method is none, and its failures do not count', async () => {
  const send = start((app, guard) => app.all('/login', guard, respond), { ...ofStatus, path: '/login' })
  expect(await send('get', '/login', 403, 200, 403)).toBe(1)
  expect(await send('post', '/login', 404)).toBe(2)
  expect(await send('get', '/login', 200)).toBe(0)
  expect(await send('post', '/login', 403)).toBe(1)
  expect(warnings()).toEqual([])
  expect(await send('get', '/login', 403, 200, 403)).toBe(1)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_PATH'])
  expect(await send('post', '/login', 200)).toBe(0)
  expect(await send('get', '/login', 403)).toBe(1)
})

test('no method and no spelling of the path avoids the count at a login with successes', async () => {
  const all = start((app, guard) => app.all('/login', guard, respond))
  expect(await all('post', '/login', 200)).toBe(0)
  for (const [i, method] of (['get', 'put', 'post'] as const).entries())
    expect(await all(method, '/login', 401)).toBe(i + 1)
  const used = start((app, guard) => app.use(guard).post('/login', respond), { path: '/login' })
  for (const [i, path] of ['/login', '/LOGIN', '/login/'].entries())
    expect(await used('post', path, 401)).toBe(i + 1)
  expect(await used('post', '/Login/', 200)).toBe(0)
})

test('a form by GET after failures by POST gets no warning', async () => {
  const send = start((app, guard) => app.route('/login').post(guard, respond).get(guard, respond))
  await send('post', '/login', 401, 401)
  await send('get', '/login', 200)
  expect(warnings()).toEqual([])
})
