import express, { type Express, type RequestHandler, type Router } from 'express'
import express4 from 'express4'
import { type LoginGuard, loginGuard, memoryStore } from 'headgate'
import { fetchPackages } from '../../e2e/package/fetched.js'
import { closeServers, type Served, send, serve } from '../../support/http.js'
import { recordWarnings } from '../../support/warnings.js'
import { attemptsLeft } from './attempt-outcome.js'

type Framework = typeof express
type Mount = (app: Express, login: Router, framework: Framework, guard: LoginGuard) => unknown

const warnings = recordWarnings()
afterEach(closeServers)

const FRAMEWORKS: readonly [string, () => Promise<Framework>][] = [
  ['Express 5', async () => express],
  ['Express 4', async () => express4 as unknown as Framework],
  [
    'Express 5.0',
    async () => require(`${await fetchPackages('express-5.0', PACKAGES)}/node_modules/express`),
  ],
]
/** The first release of Express 5, with the router that it had. */
const PACKAGES = { express: '5.0.0', router: '2.0.0' }

/** The first tenant's account is the victim's, the other one the attacker's own: its password is known. */
const check: RequestHandler = (req, res) => {
  const isOwn = req.originalUrl.toLowerCase().startsWith(req.body.own)
  res.sendStatus(isOwn && req.body.password === 'own' ? 200 : 401)
}

async function start(mount: Mount, framework: Framework) {
  const guard = loginGuard({ field: 'username', store: memoryStore() })
  const app = framework().use(express.json())
  mount(app, framework.Router({ mergeParams: true }).post('/login', guard, check), framework, guard)
  return { guard, served: await serve(app) }
}

function post(served: Served, path: string, password: string, own: string) {
  const body = JSON.stringify({ username: 'ada', password, own })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return send(served, { method: 'POST', path, headers, body })
}

const TENANTS: readonly [string, victim: string, own: string, Mount][] = [
  ['a router at a parameter', '/victim', '/evil', (app, login) => app.use('/:tenant', login)],
  [
    'a router below a parameter',
    '/api/victim/auth',
    '/api/evil/auth',
    (app, login, { Router }) => app.use('/api/:tenant', Router({ mergeParams: true }).use('/auth', login)),
  ],
  [
    'a router with a parameter below a fixed one',
    '/api/victim/auth',
    '/api/evil/auth',
    (app, login, { Router }) => app.use('/api', Router().use('/:tenant/auth', login)),
  ],
  [
    'an application at a parameter',
    '/victim',
    '/evil',
    (app, login, framework) => app.use('/:tenant', framework().use(login)),
  ],
  ['two paths', '/staff', '/shop', (app, login) => app.use(['/staff', '/shop'], login)],
  ['two mounts', '/staff', '/shop', (app, login) => app.use('/staff', login).use('/shop', login)],
  ['a RegExp', '/staff', '/shop', (app, login) => app.use(/^\/(?:staff|shop)/, login)],
  ['a RegExp with a group', '/staff', '/shop', (app, login) => app.use(/^\/(staff|shop)/, login)],
]

/** Mounts with one path, and how clients may write it. */
const ONE: readonly [string, Mount][] = [
  ['/login', (app, login) => app.use(login)],
  ['/login', (app, login) => app.use('/', login)],
  ['/api/login', (app, login) => app.use('/api', login)],
  ['/API/login', (app, login) => app.use('/api', login)],
  ['/api/login/', (app, login) => app.use('/api/', login)],
  ['/api/v1/login', (app, login) => app.use('/api/v1', login)],
  ['/api/v1/login', (app, login, { Router }) => app.use('/api', Router().use('/v1', login))],
  ['/a.b-c/login', (app, login) => app.use('/a.b-c', login)],
  ['/api/login', (app, login) => app.use(['/api'], login)],
  [
    '/api/login',
    (app, login, { Router }) => app.use('/:page/help', Router().get('/', check)).use('/api', login),
  ],
]

describe.each(FRAMEWORKS)('in %s', (_name, load) => {
  test.each(TENANTS)(
    'with %s, a success at one place clears no failures at another',
    async (_how, victim, own, mount) => {
      const { served } = await start(mount, await load())
      let reached = 0
      for (let i = 0; i < 40; i++) {
        if ((await post(served, `${victim}/login`, `guess ${i}`, own)).status === 401) reached++
        if (i % 4 === 3) await post(served, `${own}/login`, 'own', own)
      }
      expect(reached).toBe(5)
    },
  )

  test.each(ONE)('a success at %s counts at once', async (path, mount) => {
    const { guard, served } = await start(mount, await load())
    expect((await post(served, path, 'own', '/')).status).toBe(200)
    for (let i = 0; i < 4; i++) await post(served, path, 'guess', '/')
    await post(served, path, 'own', '/')
    expect(await attemptsLeft(guard)).toBe(10)
    expect(warnings()).toEqual([])
  })
})
