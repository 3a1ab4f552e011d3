import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import { type LoginGuard, type LoginGuardOptions, loginGuard, memoryStore } from 'headgate'
import supertest from 'supertest'
import { recordWarnings } from '../../support/warnings.js'
import { attemptsLeft } from './attempt-outcome.js'

type Framework = typeof express
type Mount = (app: Express, guard: LoginGuard, framework: Framework) => unknown

const warnings = recordWarnings()

const newGuard = (options: Partial<LoginGuardOptions<Request, Response>> = {}): LoginGuard =>
  loginGuard<Request, Response>({
    field: 'username',
    name: 'login',
    store: memoryStore(),
    deviceCookie: { secret: 'sixteen characters or more' },
    ...options,
  })

/** Responds with the status that the body names. */
const respond: RequestHandler = (req, res) => void res.sendStatus(req.body?.status ?? 200)

/** Hides a handler, as asyncHandler and other wrappers do. */
const wrap =
  (handler: RequestHandler): RequestHandler =>
  (req, res, next) =>
    handler(req, res, next)

function clientOf(mount: Mount, guard: LoginGuard, framework: Framework = express) {
  const app = framework().use(express.json())
  mount(app, guard, framework)
  return async (path: string, ...statuses: number[]) => {
    const cookies: number[] = []
    for (const status of statuses) {
      const { headers } = await supertest(app).post(path).send({ username: 'ada', status })
      cookies.push(headers['set-cookie']?.length ?? 0)
    }
    return { failures: 10 - ((await attemptsLeft(guard)) as number), cookies: cookies.at(-1) }
  }
}

const CLEARED = { failures: 0, cookies: 1 }

/** Where the guard is in one route, which nothing but the request shows. */
const ONE: readonly (readonly [string, string, Mount])[] = [
  ['a wrapper', '/login', (app, guard) => app.post('/login', wrap(guard), respond)],
  [
    'a wrapper in a router',
    '/auth/login',
    (app, guard, { Router }) => app.use('/auth', Router().post('/login', wrap(guard), respond)),
  ],
  [
    'a wrapped router',
    '/login',
    (app, guard, { Router }) => app.use(wrap(Router().post('/login', guard, respond))),
  ],
  [
    'a mounted application',
    '/auth/login',
    (app, guard, framework) => app.use('/auth', framework().post('/login', guard, respond)),
  ],
  [
    'the route / of a mounted application',
    '/login',
    (app, guard, framework) => app.use('/login', framework().post('/', guard, respond)),
  ],
  [
    'an application that a router has',
    '/login',
    (app, guard, framework) =>
      app.use(framework.Router().use('/login', framework().post('/', guard, respond))),
  ],
  [
    'a mounted application in a mounted one',
    '/a/b/login',
    (app, guard, framework) =>
      app.use('/a', framework().use('/b', framework().post('/login', wrap(guard), respond))),
  ],
]

/** Where the guard is at `/login` and at `/forgot`, and hidden at one of them at least. */
const TWO: readonly (readonly [string, Mount])[] = [
  ['routes', (app, guard) => app.post('/login', wrap(guard), respond).post('/forgot', wrap(guard), respond)],
  [
    'a route and a hidden one',
    (app, guard) => app.post('/forgot', guard, respond).post('/login', wrap(guard), respond),
  ],
  [
    'a hidden route and one',
    (app, guard) => app.post('/login', guard, respond).post('/forgot', wrap(guard), respond),
  ],
  ['a hidden use', (app, guard) => app.use(wrap(guard)).post('/login', respond).post('/forgot', respond)],
  [
    'a hidden use after routes',
    (app, guard) => {
      const pass: RequestHandler = (_req, _res, next) => next()
      app.post('/login', pass).post('/forgot', pass).use(wrap(guard), respond)
    },
  ],
  [
    'two routers',
    (app, guard, { Router }) => {
      app.use('/login', wrap(Router().post('/', guard, respond)))
      app.use('/forgot', wrap(Router().post('/', guard, respond)))
    },
  ],
  [
    'two mounted applications',
    (app, guard, framework) => {
      app.use('/login', framework().post('/', guard, respond))
      app.use('/forgot', framework().post('/', guard, respond))
    },
  ],
  [
    'a mounted application and a route',
    (app, guard, framework) => {
      app.use('/login', framework().post('/', guard, respond)).post('/forgot', guard, respond)
    },
  ],
  [
    'an application that a router has and a route',
    (app, guard, framework) => {
      const login = framework().post('/', guard, respond)
      app.use(framework.Router().use('/login', login)).post('/forgot', guard, respond)
    },
  ],
  ['a hidden route with a parameter', (app, guard) => app.post('/:page', wrap(guard), respond)],
]

describe.each([
  ['Express 5', express],
  ['Express 4', express4 as unknown as Framework],
] as const)('in %s', (_name, framework) => {
  test.each(ONE)('with %s, a route that has responded with 401 is the login', async (_how, path, mount) => {
    const guard = newGuard()
    const send = clientOf(mount, guard, framework)
    for (let i = 0; i < 3; i++) expect(await send(path, 401, 401, 401, 401, 200)).toEqual(CLEARED)
    expect(warnings()).toEqual(['HEADGATE_LOGIN_PATH']) // since other processes may have seen no 401
  })

  test.each(ONE)(
    'with %s, a user who logs in in processes without a 401 is not locked out, and path counts in a row',
    async (_how, path, mount) => {
      const left: (number | undefined)[][] = []
      for (const options of [{}, { path }]) {
        const shared = { ...options, store: memoryStore() }
        const one = newGuard(shared)
        const send = clientOf(mount, one, framework)
        await send(path, 401, 401, 401)
        const failed = await attemptsLeft(one, 'consecutive')
        await clientOf(mount, newGuard(shared), framework)(path, 200)
        left.push([failed, await attemptsLeft(one, 'consecutive'), await attemptsLeft(one)])
      }
      expect(left).toEqual([
        [100, 100, 7],
        [97, 100, 10],
      ])
    },
  )

  test.each(ONE)('with %s, no other status shows that it is one', async (_how, path, mount) => {
    const guard = newGuard()
    const send = clientOf(mount, guard, framework)
    expect(await send(path, 200)).toEqual({ failures: 0, cookies: 0 })
    expect(warnings()).toEqual([])
    expect(await send(path, 422, 403, 400, 200)).toEqual({ failures: 3, cookies: 0 })
    expect(warnings()).toEqual(['HEADGATE_LOGIN_PATH'])
    const [message] = jest.mocked(process.emitWarning).mock.calls[0] ?? []
    expect(message).toContain('no wrong password has got a 401 here')
    expect(message).toContain("such as 400, 403 or 422, set path, such as path: '/login'")
    expect(await attemptsLeft(guard, 'consecutive')).toBe(100)
  })

  test.each(ONE)(
    'with %s, path names the login where no wrong password gets 401',
    async (_how, path, mount) => {
      const guard = newGuard({ path })
      for (const status of [400, 403, 422])
        expect(await clientOf(mount, guard, framework)(path, status, status, status, 200)).toEqual(CLEARED)
      expect(warnings()).toEqual([])
    },
  )

  test.each(TWO)('in %s, a success at another route of the guard clears nothing', async (_how, mount) => {
    for (const before of [[], [200], [401, 200], [400]]) {
      const guard = newGuard()
      const send = clientOf(mount, guard, framework)
      await send('/login', 401)
      await send('/forgot', ...before)
      await send('/login', 401, 401, 401)
      expect((await send('/forgot', 200)).cookies).toBe(0)
      expect(await attemptsLeft(guard)).toBeLessThanOrEqual(6)
    }
  })

  /** A second guard is in sight in one route, and nothing shows that it is wrapped in another one. */
  const hidden = TWO.filter(([how]) => how !== 'a route and a hidden one')

  test.each(hidden)('in %s, a process that has seen no login clears nothing', async (_how, mount) => {
    const store = memoryStore()
    const [one, other] = [newGuard({ store }), newGuard({ store })]
    await clientOf(mount, one, framework)('/login', 401, 401, 401)
    expect(await clientOf(mount, other, framework)('/forgot', 200)).toEqual({ failures: 3, cookies: 0 })
  })
})
