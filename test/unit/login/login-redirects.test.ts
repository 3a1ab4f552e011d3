import express, { type Request, type Response } from 'express'
import { loginGuard } from 'headgate'
import { closeServers, send, serve } from '../../support/http.js'
import { listenForWarnings } from '../keys/warnings.js'
import { isSuccess, redirect } from './outcome-kit.js'

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
  const guard = loginGuard<Request, Response>({ field: 'username' })
  const app = express().post('/login', express.urlencoded(), guard, (_req, res) => res.redirect('/home'))
  await send(await serve(app), formTo('/login'))
  const ada = { body: { username: 'ada' }, ip: '127.0.0.1' } as unknown as Request
  const { parts } = await guard.limiter.peek(ada)
  expect(parts.map(({ limit, remaining }) => limit - remaining)).toEqual([1, 1, 1, 1])
})

test('the first redirect is reported once, with its fixes, unless an option or a report decides', async () => {
  await isSuccess(redirect('/home'), { successRedirect: '/home' })
  await isSuccess(redirect('/login'), { successRedirect: '/home' })
  await isSuccess(redirect('/home'), { succeeded: () => true })
  await isSuccess((res, guard) => {
    guard.reportSuccess(res.req)
    res.redirect('/home')
  })
  expect(warnings()).toEqual([])
  for (let i = 0; i < 2; i++) await isSuccess(redirect('/home'))
  expect(warnings()).toEqual(['HEADGATE_LOGIN_REDIRECT'])
  const [message] = warn.mock.calls[0] as [string]
  for (const fix of ['successRedirect', "('/home')", 'succeeded: (req, res) =>', 'reportSuccess(req)'])
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
    const guard = loginGuard<Request, Response>({ field: 'username' })
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

test.each<[string, string | string[], boolean]>([
  ['/home', '/home', true],
  ['/home?welcome', '/home', false],
  ['/home?welcome', '/home?welcome', true],
  ['/home#top', '/home', false],
  ['/home/', '/home', false],
  ['/HOME', '/home', false],
  ['/%68ome', '/home', false],
  ['//home', '/home', false],
  ['https://app.example/home', '/home', false],
  ['https://app.example/home', 'https://app.example/home', true],
  ['home', '/home', false],
  ['home', 'home', true],
  ['/login', '/home', false],
  ['/login?next=/home', '/home', false],
  ['/caf%C3%A9', '/caf%C3%A9', true],
  ['/b', ['/a', '/b'], true],
  ['/c', ['/a', '/b'], false],
])('a redirect to %s, with successRedirect %j, is a success: %s', async (to, successRedirect, expected) => {
  expect(await isSuccess(redirect(to), { successRedirect })).toBe(expected)
})

test('with successRedirect, a redirect without a Location is a failure', async () => {
  expect(await isSuccess((res) => res.status(302).end(), { successRedirect: '/home' })).toBe(false)
})

function formTo(path: string) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return { method: 'POST', path, headers, body: 'username=ada&password=wrong' }
}
