import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import { type LoginGuard, type LoginGuardOptions, loginGuard, memoryStore } from 'headgate'
import supertest from 'supertest'
import { recordWarnings } from '../../support/warnings.js'
import { attemptsLeft } from './attempt-outcome.js'

type Options = Partial<LoginGuardOptions<Request, Response>>
type Framework = typeof express
type Mount = (app: Express, guard: LoginGuard, Router: Framework['Router'], framework: Framework) => unknown

const secret = 'sixteen characters or more'
const warnings = recordWarnings()

const newGuard = (options: Options = {}): LoginGuard =>
  loginGuard<Request, Response>({
    field: 'username',
    name: 'login',
    store: memoryStore(),
    deviceCookie: { secret },
    ...options,
  })

/** Responds with the status that the body names. */
const respond: RequestHandler = (req, res) => void res.sendStatus(req.body?.status ?? 200)

/** Creates an application, and returns what sends it a request for an account. */
function clientOf(mount: Mount, guard: LoginGuard, framework: Framework = express) {
  const app = framework().use(express.json())
  mount(app, guard, framework.Router, framework)
  return (status: number, path = '/login', method: 'post' | 'get' | 'options' | 'put' = 'post') =>
    supertest(app)[method](path).send({ username: 'ada', status })
}

const failuresOf = async (guard: LoginGuard) => 10 - ((await attemptsLeft(guard)) as number)

/** Returns how many of two failures are left after a success, and how many cookies that got. */
async function afterSuccess(mount: Mount, options: Options, framework: Framework, path = '/login') {
  const guard = newGuard(options)
  const send = clientOf(mount, guard, framework)
  for (let i = 0; i < 2; i++) await send(401, path)
  const { headers } = await send(200, path)
  return { failures: await failuresOf(guard), cookies: headers['set-cookie']?.length ?? 0 }
}

const CLEARED = { failures: 0, cookies: 1 }
const UNKNOWN = { failures: 2, cookies: 0 }
const pass: RequestHandler = (_req, _res, next) => next()

const ROUTES: readonly (readonly [string, Mount])[] = [
  ['one route', (app, guard) => app.post('/login', guard, respond)],
  ['one route of all methods', (app, guard) => app.all('/login', guard, respond)],
  [
    'a route with a second handler',
    (app, guard) => app.route('/login').post([pass, guard, respond]).put(respond),
  ],
  ['the routes of two methods', (app, guard) => app.get('/login', guard).post('/login', guard, respond)],
  [
    'a route of a router',
    (app, guard, Router) => app.use(Router().use(Router().post('/login', guard, respond))),
  ],
]

const OTHERS: readonly (readonly [string, Mount])[] = [
  ['app.use', (app, guard) => app.use(guard, respond)],
  ['app.use with a path', (app, guard) => app.use('/login', guard).post('/login', respond)],
  ['router.use', (app, guard, Router) => app.use(Router().use(guard).post('/login', respond))],
  ['two routes', (app, guard) => app.post('/login', guard, respond).post('/forgot', guard, respond)],
  ['a route and app.use', (app, guard) => app.post('/login', guard, respond).use('/forgot', guard)],
  ['a route with a parameter', (app, guard) => app.post('/:page', guard, respond)],
  [
    'a route of a router below a parameter',
    (app, guard, Router) => app.use('/:page', Router().post('/', guard, respond)),
  ],
  ['a route with two paths', (app, guard) => app.post(['/login', '/forgot'], guard, respond)],
  ['a route with an expression', (app, guard) => app.post(/login/, guard, respond)],
  ['app.use after a route of the path', (app, guard) => app.post('/login', pass).use(guard, respond)],
  [
    'routes of two routers that have one pattern',
    (app, guard, Router) => {
      app.use('/login', Router().post('/', guard, respond))
      app.use('/forgot', Router().post('/', guard, respond))
    },
  ],
]

describe.each([
  ['Express 5', express],
  ['Express 4', express4 as unknown as Framework],
] as const)('in %s', (_name, framework) => {
  test.each(ROUTES)(
    'a guard in %s knows its login, so a success there clears failures',
    async (_how, mount) => {
      expect(await afterSuccess(mount, {}, framework)).toEqual(CLEARED)
      expect(warnings()).toEqual([])
    },
  )

  test.each(OTHERS)(
    'a guard in %s does not know its login, so a success clears nothing',
    async (_how, mount) => {
      expect(await afterSuccess(mount, {}, framework)).toEqual(UNKNOWN)
      expect(warnings()).toEqual(['HEADGATE_LOGIN_PATH'])
    },
  )

  test.each(OTHERS)(
    'with path, a guard in %s clears failures there, and nowhere else',
    async (_how, mount) => {
      expect(await afterSuccess(mount, { path: ['/signin', '/login'] }, framework)).toEqual(CLEARED)
      expect(await afterSuccess(mount, { path: '/signin' }, framework)).toEqual(UNKNOWN)
    },
  )
})

test('a request that becomes a GET after the guard is no login', async () => {
  const toGet: RequestHandler = (req, _res, next) => {
    req.method = 'GET'
    next()
  }
  const mount: Mount = (app, guard) => app.use(guard, toGet).get('/login', respond)
  expect(await afterSuccess(mount, { path: '/login' }, express)).toEqual(UNKNOWN)
})

const two: Mount = (app, guard) => app.post('/login', guard, respond).post('/forgot', guard, respond)

test('a process that has seen only another route of its guard clears nothing', async () => {
  const store = memoryStore()
  const [one, other] = [newGuard({ store }), newGuard({ store })]
  await clientOf(two, one)(401)
  await clientOf(two, other)(200, '/forgot')
  expect(await failuresOf(one)).toBe(1)
})

test('other spellings of path clear nothing, and the query makes no difference', async () => {
  const guard = newGuard({ path: '/login' })
  const send = clientOf((app) => app.use(guard, respond), guard)
  await send(401)
  for (const path of [
    '/LOGIN',
    '/login/',
    '//login',
    '/%6cogin',
    '/login;a',
    '/forgot?/login',
    '/forgot/../login/x',
  ]) {
    await send(200, path)
    expect({ path, failures: await failuresOf(guard) }).toEqual({ path, failures: 1 })
  }
  await send(200, '/login?next=/forgot')
  expect(await failuresOf(guard)).toBe(0)
})

test('the warning names the fix, comes once for each guard, and shows the path of a request safely', async () => {
  const [one, other] = [newGuard({ name: 'one' }), newGuard({ name: 'other' })]
  for (const guard of [one, one, other])
    await clientOf((app) => app.use(guard, respond), guard)(200, `/${'x'.repeat(99)}`)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_PATH', 'HEADGATE_LOGIN_PATH'])
  const [message] = jest.mocked(process.emitWarning).mock.calls[0] ?? []
  expect(message).toContain(`loginGuard "one" saw a successful response ("POST /${'x'.repeat(51)}...")`)
  expect(message).toContain("Set path, such as path: '/login', call guard.reportSuccess(req)")
  expect(message).toContain('or respond to wrong passwords with 401')
})

test.each<[string, Options]>([
  ['a status below 300', {}],
  ['failureRedirect', { failureRedirect: '/login' }],
])(
  'by %s, an attempt with an unknown place gets its own units back and clears nothing',
  async (_what, options) => {
    const guard = newGuard(options)
    const send = clientOf((app) => app.use(guard, respond), guard)
    for (let i = 0; i < 2; i++) await send(401)
    for (let i = 0; i < 20; i++) expect((await send(200, '/forgot')).status).toBe(200)
    expect(await failuresOf(guard)).toBe(2)
    expect(await attemptsLeft(guard, 'consecutive')).toBe(100)
  },
)

test('202 does not say whether a password was right: it clears nothing, unless succeeded says so', async () => {
  for (const [options, failures] of [
    [{}, 1],
    [{ succeeded: () => true }, 0],
  ] as const) {
    const guard = newGuard(options)
    const send = clientOf((app) => app.post('/login', guard, respond), guard)
    await send(401)
    await send(202)
    expect(await failuresOf(guard)).toBe(failures)
  }
})

test('a reported success clears failures wherever it is reported, on any method', async () => {
  for (const method of ['post', 'put', 'get', 'options'] as const) {
    const guard = newGuard()
    const report: RequestHandler = (req, res) => {
      if (req.body.status === 200) guard.reportSuccess(req)
      res.sendStatus(req.body.status)
    }
    const send = clientOf((app) => app.use(guard, report), guard)
    await send(401)
    const { headers } = await send(200, '/any', method)
    expect({ method, failures: await failuresOf(guard) }).toEqual({ method, failures: 0 })
    expect(headers['set-cookie']).toHaveLength(1)
  }
})

test('path must be plain paths', () => {
  for (const path of ['login', '', '/:lang/login', '/log*', [], ['/login', 5], /login/] as never[])
    expect(() => newGuard({ path })).toThrow(
      "loginGuard: path must be a path such as '/login', without patterns",
    )
})
