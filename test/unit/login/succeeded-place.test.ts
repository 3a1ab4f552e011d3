import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import { adjustments, type LoginGuard, type LoginGuardOptions, loginGuard, memoryStore } from 'headgate'
import { closeServers, type Served, send, serve } from '../../support/http.js'
import { recordWarnings } from '../../support/warnings.js'
import { attemptsLeft } from './attempt-outcome.js'

type Options = Partial<LoginGuardOptions<Request, Response>>
type Framework = typeof express
type Mount = (app: Express, guard: LoginGuard, Router: Framework['Router']) => unknown

const warnings = recordWarnings()
afterEach(closeServers)

/** The rule that most people would write. */
const succeeded: NonNullable<Options['succeeded']> = (_req, res) => res.statusCode < 400

/** Checks the password of whatever method it gets. */
const check: RequestHandler = (req, res) => void res.sendStatus(req.body?.password === 'right' ? 200 : 401)
/** Shows a form, sends a mail or logs out. */
const other: RequestHandler = (_req, res) => void res.sendStatus(200)

function sendTo(served: Served, method: string, path: string, password?: string) {
  const body = JSON.stringify({ username: 'ada', password })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return send(served, { method, path, headers, body })
}

async function start(mount: Mount, options: Options = {}, framework: Framework = express) {
  const guard = loginGuard<Request, Response>({
    field: 'username',
    store: memoryStore(),
    succeeded,
    ...options,
  })
  const app = framework().use(express.json())
  mount(app, guard, framework.Router)
  return { guard, served: await serve(app) }
}

/** What a client may send between guesses, which the application takes for a success by its status. */
type Other = [what: string, method: string, path: string, mount: Mount, options: Options]
type Login = [what: string, method: string, mount: Mount, options: Options]
const OTHERS: readonly Other[] = [
  ...['OPTIONS', 'HEAD', 'TRACE'].flatMap((method): Other[] => [
    [
      'app.use with a path',
      method,
      '/login',
      (app: Express, guard: LoginGuard) => app.use('/login', guard).post('/login', check).use(other),
      {},
    ],
    [
      'app.all',
      method,
      '/login',
      (app: Express, guard: LoginGuard) =>
        app.all('/login', guard, (req, res, next) => (req.method === 'POST' ? check : other)(req, res, next)),
      {},
    ],
    [
      'app.use with the option path',
      method,
      '/login',
      (app: Express, guard: LoginGuard) => app.use(guard).post('/login', check).use(other),
      { path: '/login' },
    ],
  ]),
  [
    'the form',
    'GET',
    '/login',
    (app, guard) => app.use('/login', guard).post('/login', check).get('/login', other),
    {},
  ],
  [
    'the form at the option path',
    'GET',
    '/login',
    (app, guard) => app.use(guard).post('/login', check).get('/login', other),
    { path: '/login' },
  ],
  [
    'a logout in the same route',
    'DELETE',
    '/session',
    (app, guard) => app.route('/session').all(guard).post(check).delete(other),
    {},
  ],
  [
    'another route',
    'POST',
    '/auth/forgot',
    (app, guard) => app.use('/auth', guard).post('/auth/login', check).post('/auth/forgot', other),
    {},
  ],
  [
    'another router with the same pattern',
    'POST',
    '/forgot',
    (app, guard, Router) => {
      app.use('/login', Router().post('/', guard, check))
      app.use('/forgot', Router().post('/', guard, other))
    },
    {},
  ],
  [
    'another path without a route',
    'POST',
    '/forgot',
    (app, guard) => app.use(guard).use('/login', check).use(other),
    {},
  ],
]

describe.each([
  ['Express 5', express],
  ['Express 4', express4 as unknown as Framework],
] as const)('in %s, if succeeded reads the status alone', (_name, framework) => {
  test.each<Other>(OTHERS)(
    'a guesser gains nothing by %s: %s %s',
    async (_what, method, path, mount, options) => {
      const { guard, served } = await start(mount, options, framework)
      const login = path === '/session' ? path : path.startsWith('/auth') ? '/auth/login' : '/login'
      let reached = 0
      for (let i = 0; i < 40; i++) {
        const { status } = await sendTo(served, 'POST', login, `guess ${i}`)
        if (status === 401) reached++
        if (i % 3 === 2) await sendTo(served, method, path)
      }
      expect(reached).toBe(5)
      expect(await attemptsLeft(guard)).toBe(5)
    },
  )
})

/** Where a login by another method, or outside of routes, still counts as the application says. */
const LOGINS: readonly Login[] = [
  ['app.use', 'POST', (app, guard) => app.use(guard).post('/login', check), {}],
  ['app.use with a path', 'PUT', (app, guard) => app.use('/login', guard).put('/login', check), {}],
  ['app.use without a route', 'POST', (app, guard) => app.use(guard, check), {}],
  ['a route', 'GET', (app, guard) => app.get('/login', guard, check), {}],
  ['app.use', 'GET', (app, guard) => app.use(guard).get('/login', check), {}],
  ['app.use with the option path', 'GET', (app, guard) => app.use(guard, check), { path: '/login' }],
]

test.each<Login>(LOGINS)(
  'behind %s, a login by %s counts where it has responded with 401',
  async (_what, method, mount, options) => {
    const { guard, served } = await start(mount, options)
    for (let i = 0; i < 3; i++) {
      for (let j = 0; j < 4; j++) expect((await sendTo(served, method, '/login', 'guess')).status).toBe(401)
      expect((await sendTo(served, method, '/login', 'right')).status).toBe(200)
      expect(await attemptsLeft(guard)).toBe(10)
    }
    expect(warnings()).toEqual(options.path ? [] : ['HEADGATE_LOGIN_PATH']) // none counts in a row
  },
)

test.each(['GET', 'DELETE'])(
  'a login by %s that rejects passwords without 401 counts with path, and else gets a warning',
  async (method) => {
    for (const status of [403, 302]) {
      const forbid: RequestHandler = (req, res) =>
        void res.sendStatus(req.body.password === 'right' ? 200 : status)
      const rule = { succeeded: (_req: Request, res: Response) => res.statusCode === 200 }
      const mount: Mount = (app, own) => app.all('/login', own, forbid)
      for (const [left, codes, options] of [
        [10, [], { path: '/login' }],
        [9, ['HEADGATE_LOGIN_PATH'], { name: `${status}` }],
      ] as const) {
        jest.mocked(process.emitWarning).mockClear()
        const { guard, served } = await start(mount, { ...rule, ...options })
        await sendTo(served, method, '/login', 'guess')
        await sendTo(served, method, '/login', 'right')
        expect({ status, left: await attemptsLeft(guard), codes: warnings() }).toEqual({
          status,
          left,
          codes,
        })
      }
    }
    const [message] = jest.mocked(process.emitWarning).mock.calls[0] ?? []
    expect(message).toContain(`saw a successful response ("${method} /login"), but cleared no failures`)
    expect(message).toContain("Set path, such as path: '/login'")
    expect(message).toContain('If none was checked, let succeeded return false.')
  },
)

test.each(['POST', 'PUT', 'PATCH'])(
  'in its route, a login by %s counts at once, whatever the status of failures',
  async (method) => {
    const forbid: RequestHandler = (req, res) =>
      void res.sendStatus(req.body.password === 'right' ? 200 : 403)
    const { guard, served } = await start((app, own) => app.all('/login', own, forbid))
    await sendTo(served, method, '/login', 'guess')
    await sendTo(served, method, '/login', 'right')
    expect(await attemptsLeft(guard)).toBe(10)
  },
)

test('remembers a bounded number of places that clients choose, and learns each one anew', async () => {
  const { guard, served } = await start((app, own) => app.use(own, check))
  await sendTo(served, 'POST', '/login', 'guess')
  for (let i = 0; i < 1000; i++) {
    await sendTo(served, 'POST', `/${i}`, 'guess')
    await adjustments(guard.limiter).forget({ body: { username: 'ada' }, ip: '127.0.0.1' } as Request)
  }
  await sendTo(served, 'POST', '/0', 'guess')
  await sendTo(served, 'POST', '/login', 'right')
  expect(await attemptsLeft(guard)).toBe(9)
  await sendTo(served, 'POST', '/login', 'guess')
  await sendTo(served, 'POST', '/login', 'right')
  expect(await attemptsLeft(guard)).toBe(10)
})
