import express, { type Request, type Response } from 'express'
import { loginGuard } from 'headgate'
import { closeServers, send, serve } from '../../support/http.js'
import { listenForWarnings } from '../keys/warnings.js'
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
  const guard = loginGuard<Request, Response>({ field: 'username' })
  const app = express().post('/login', express.urlencoded(), guard, (_req, res) => res.redirect('/home'))
  await send(await serve(app), formTo('/login'))
  const ada = { body: { username: 'ada' }, ip: '127.0.0.1' } as unknown as Request
  const { parts } = await guard.limiter.peek(ada)
  expect(parts.map(({ limit, remaining }) => limit - remaining)).toEqual([1, 1, 1, 1])
})

test('the first redirect is reported once, with its fixes, unless succeeded or a report decides', async () => {
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
    "succeeded: (req, res) => res.getHeader('location') === '/home'",
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
