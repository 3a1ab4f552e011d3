import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import { type LoginGuard, type LoginGuardOptions, loginGuard, memoryStore } from 'headgate'
import supertest from 'supertest'
import { recordWarnings } from '../../support/warnings.js'
import { attemptsLeft } from './attempt-outcome.js'

type Options = Partial<LoginGuardOptions<Request, Response>>
type Method = 'post' | 'put' | 'get'

const warnings = recordWarnings()

const respond: RequestHandler = (req, res) => void res.sendStatus(req.body?.status ?? 200)

/** Starts a login, and returns what sends it statuses, and how many failures in a row are counted then. */
function start(mount: (app: Express, guard: LoginGuard) => unknown, options: Options = {}) {
  const guard = loginGuard<Request, Response>({ field: 'username', store: memoryStore(), ...options })
  const app = express().use(express.json())
  mount(app, guard)
  return async (method: Method, path: string, ...statuses: number[]) => {
    for (const status of statuses) await supertest(app)[method](path).send({ username: 'ada', status })
    return 100 - ((await attemptsLeft(guard, 'consecutive')) as number)
  }
}

const ofStatus: Options = { succeeded: (_req, res) => res.statusCode < 300 }

test.each<[string, Method, Parameters<typeof start>[0], Options]>([
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
  'a guard %s counts no failures in a row, so that none are left for years',
  async (_how, method, mount, options) => {
    const send = start(mount, options)
    expect(await send(method, '/login', 401, 401, 200, 401, 401)).toBe(0)
    expect(warnings()).toEqual(['HEADGATE_LOGIN_PATH'])
  },
)

test.each<Method>(['get', 'put'])(
  'once succeeded has recognized a success by %s, failures there count in a row',
  async (method) => {
    const send = start((app, guard) => app[method]('/login', guard, respond), ofStatus)
    expect(await send(method, '/login', 401, 401)).toBe(0)
    expect(await send(method, '/login', 200, 401, 401)).toBe(2)
    expect(await send(method, '/login', 200)).toBe(0)
    expect(warnings()).toEqual([])
  },
)

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
