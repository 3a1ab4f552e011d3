import express, { type Request, type Response } from 'express'
import { loginGuard } from 'headgate'
import { closeServers, send, serve } from '../../support/http.js'
import { listenForWarnings } from '../../support/warnings.js'
import { isSuccess, redirect } from './attempt-outcome.js'

let warnings: () => unknown[]
let warn: jest.SpyInstance
beforeEach(() => {
  warnings = listenForWarnings()
  warn = process.emitWarning as unknown as jest.SpyInstance
})
afterEach(async () => {
  jest.restoreAllMocks()
  await closeServers()
})

test.each(['/home', '/', '/login', '/login?error', 'https://app.example/home', '?error', 'home'])(
  'by default, a redirect to %s is a failure',
  async (to) => {
    for (const status of [300, 301, 302, 303, 307, 308])
      expect(await isSuccess(redirect(to, status))).toBe(false)
  },
)

test('by default, a redirect takes a unit of every limit', async () => {
  const guard = loginGuard({ field: 'username' })
  const app = express().post('/login', express.urlencoded(), guard, (_req, res) => res.redirect('/home'))
  await send(await serve(app), formTo('/login'))
  const ada = { body: { username: 'ada' }, ip: '127.0.0.1' } as unknown as Request
  const { parts } = await guard.limiter.peek(ada)
  expect(parts.map(({ limit, remaining }) => limit - remaining)).toEqual([1, 1, 1, 1])
})

test('the first redirect is reported once, with its fixes, unless an option or a report decides', async () => {
  await isSuccess(redirect('/home'), { failureRedirect: false })
  await isSuccess(redirect('/home'), { failureRedirect: '/sign-in' })
  await isSuccess(redirect('/home'), { succeeded: () => true })
  await isSuccess((res, guard) => {
    guard.reportSuccess(res.req)
    res.redirect('/home')
  })
  expect(warnings()).toEqual([])
  for (let i = 0; i < 2; i++) await isSuccess(redirect('/home'))
  expect(warnings()).toEqual(['HEADGATE_LOGIN_REDIRECT'])
  const [message] = warn.mock.calls[0] as [string]
  for (const fix of [
    'guard.reportSuccess(req)',
    "or failureRedirect to where failed logins go ('/login' or false)",
    'set succeeded',
  ])
    expect(message).toContain(fix)
})

const SPELLINGS = [
  '/%2565n/login',
  '/en%3Fx/login',
  '/..%2Fen/login',
  '/en/login',
  '/EN/login/',
  '//en/login',
]

test.each(SPELLINGS)(
  'failures that are redirected by a path spelled %s do not clear the account',
  async (path) => {
    const guard = loginGuard({ field: 'username' })
    const app = express()
    app.post(['/:lang/login', '//:lang/login'], express.urlencoded(), guard, (req, res) => {
      res.redirect(`/${req.params.lang}/login`)
    })
    const served = await serve(app)
    const statuses: number[] = []
    for (let i = 0; i < 7; i++) statuses.push((await send(served, formTo(path))).status)
    expect(statuses).toEqual([302, 302, 302, 302, 302, 429, 429])
  },
)

/** What Node.js sends as it is; `res.redirect` would encode it. */
const redirectByHand = (location: string) => (res: Response) =>
  void res.writeHead(302, { Location: location }).end()

test.each<[string, string | string[] | false, boolean]>([
  ['/home', '/sign-in', true],
  ['/sign-in', '/sign-in', false],
  ['/sign-in?again=1', '/sign-in', false],
  ['/sign-in/two-factor', '/sign-in', true],
  ['https://app.example/sign-in', '/sign-in', false],
  ['https://app.example/home', '/sign-in', true],
  ['myapp://callback/home', '/sign-in', true],
  ['/?login=failed&name=ada', '/?login=failed', false],
  ['/?welcome', '/?login=failed', true],
  ['/login?next=%2Fhome&error=1', '/login?error', false],
  ['/login?next=%2Fhome&error=1', '/login?error=1', false],
  ['/login?next=%2Ferror', '/login?error', true],
  ['/b', ['/a', '/b'], false],
  ['/c', ['/a', '/b'], true],
  ['/', '/', false],
  ['/anything', false, true],
  ['anything', false, true],
])('a redirect to %s, where failures go to %j, is a success: %s', async (to, failureRedirect, expected) => {
  expect(await isSuccess(redirectByHand(to), { failureRedirect })).toBe(expected)
})

test.each([
  '/EN/LogIn',
  '/en/login/',
  '/en//login',
  '/en/login#/home',
  '/en/./login',
  '/de/../en/login',
  '/de/%2e%2E/en/login',
  '/de/..%2Fen/login',
  '/en%2Flogin',
  '/en%5Clogin',
  '/en\\login',
  '/%65n/login',
  '/%2565n/login',
  '/%25%36%35n/login',
  `/%${'25'.repeat(3)}65n/login`,
  `/%${'25'.repeat(20)}65n/login`,
  'http://app.example/%65n/login',
])('a redirect to %s matches the path /en/login, however that is spelled', async (location) => {
  for (const failureRedirect of ['/en/login', ['/', '/%65N//login/']])
    expect(await isSuccess(redirectByHand(location), { failureRedirect })).toBe(false)
})

test.each(['/en/login/two-factor', '/en/home', '/100%25', '/a%2Fb', '/caf%C3%A9', '/%FF', '/en/log%C3%AFn'])(
  'a redirect to %s does not match the path /en/login',
  async (location) => {
    expect(await isSuccess(redirectByHand(location), { failureRedirect: '/en/login' })).toBe(true)
  },
)

test.each([
  'home',
  './home',
  '?welcome',
  '//app.example/home',
  '/\\app.example',
  '/\t/home',
  'a:b/home',
  ' /home',
  'http://[',
])('with paths of failures, a redirect to %j, no absolute path or URL, is a failure', async (location) => {
  expect(await isSuccess(redirectByHand(location), { failureRedirect: '/sign-in' })).toBe(false)
})

test('with failureRedirect, a redirect without a Location is a failure', async () => {
  for (const failureRedirect of ['/sign-in', false] as const)
    expect(await isSuccess((res) => res.status(302).end(), { failureRedirect })).toBe(false)
})

test.each([
  ['/home', true],
  ['/home?error', false],
  ['/login', false],
])('a redirect to %s is a success by a succeeded that compares Location: %s', async (to, expected) => {
  const succeeded = (_req: Request, res: Response) => res.getHeader('location') === '/home'
  expect(await isSuccess(redirect(to), { succeeded })).toBe(expected)
})

function formTo(path: string) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return { method: 'POST', path, headers, body: 'username=ada&password=wrong' }
}
