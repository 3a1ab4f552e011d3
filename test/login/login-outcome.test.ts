import { ServerResponse } from 'node:http'
import express, { type Request, type Response } from 'express'
import { type LoginGuard, type LoginGuardOptions, loginGuard } from 'headgate'
import supertest from 'supertest'
import { listenForWarnings } from '../keys/warnings.js'

/** What a response of this kind is taken for: a success leaves no trace, a failure does. */
async function isSuccess(
  answer: (res: Response) => void,
  options: Partial<LoginGuardOptions<Request, Response>> = {},
  path = '/login',
): Promise<boolean> {
  const guard = loginGuard<Request, Response>({ field: 'username', ...options })
  guard.limiter.events.on('refundFailed', () => undefined)
  const app = express()
  app.use('/login', express.urlencoded(), guard, (_req, res) => answer(res))
  await supertest(app).post(path).type('form').send({ username: 'ada' })
  return (await attemptsLeft(guard)) === 10
}

async function attemptsLeft(guard: LoginGuard<Request, Response>): Promise<number | undefined> {
  const { parts } = await guard.limiter.peek({ body: { username: 'ada' } } as Request)
  return parts.find(({ name }) => name === 'account')?.remaining
}

const redirect =
  (to: string, status = 302) =>
  (res: Response) =>
    res.redirect(status, to)

test.each([
  [200, true],
  [201, true],
  [204, true],
  [400, false],
  [401, false],
  [403, false],
  [422, false],
  [429, false],
  [500, false],
  [503, false],
])('by itself, %d is a success: %s', async (status, expected) => {
  expect(await isSuccess((res) => res.status(status).end())).toBe(expected)
})

test.each([
  ['/home', true],
  ['/', true],
  ['https://app.example/home', true],
  ['/login/two-factor', true],
  ['/login', false],
  ['/login?error=1', false],
  ['/login?error#form', false],
  ['https://app.example/login?error', false],
  ['?error', false],
  ['./login', false],
])('by itself, a redirect from /login to %s is a success: %s', async (to, expected) => {
  for (const status of [301, 302, 303, 307]) expect(await isSuccess(redirect(to, status))).toBe(expected)
})

test.each([
  ['/home', '/sign-in', true],
  ['/login', '/sign-in', true],
  ['/sign-in', '/sign-in', false],
  ['/sign-in?again=1', '/sign-in', false],
  ['/?login=failed&name=ada', '/?login=failed', false],
  ['/?welcome', '/?login=failed', true],
  ['/login?next=%2Fhome&error=1', '/login?error', false],
  ['/login?next=%2Fhome&error=1', '/login?error=1', false],
  ['/login?next=%2Ferror', '/login?error', true],
  ['/b', ['/a', '/b'], false],
])('a redirect to %s, where %s means failure, is a success: %s', async (to, failureRedirect, expected) => {
  expect(await isSuccess(redirect(to), { failureRedirect })).toBe(expected)
})

test('below a mount path and with a query, the attempt’s own path is the whole one', async () => {
  expect(await isSuccess(redirect('/login/form'), {}, '/login/form?next=%2Fhome')).toBe(false)
  expect(await isSuccess(redirect('/form'), {}, '/login/form?next=%2Fhome')).toBe(true)
})

test('a redirect without a place to go, or to a malformed one, is no success', async () => {
  for (const failureRedirect of [undefined, '/sign-in', false] as const) {
    const options = failureRedirect === undefined ? {} : { failureRedirect }
    expect(await isSuccess((res) => res.status(302).end(), options)).toBe(false)
    expect(await isSuccess((res) => res.status(302).set('Location', 'http://[').end(), options)).toBe(false)
  }
})

test.each([
  '/LOGIN',
  '/login/',
  '/login//',
  '//login',
  '/%6Cogin',
  '/login?a=/home',
  'http://x:99999/login',
  'http:///login',
  '/login#/home',
])('however the attempt writes its path, being sent back is a failure: %s', async (path) => {
  const guard = loginGuard<Request, Response>({ field: 'username' })
  const req = {
    method: 'POST',
    body: { username: 'ada' },
    url: path,
    headers: {},
    socket: {},
  } as unknown as Request
  const res = new ServerResponse(req)
  await new Promise((resolve) => guard(req, res as Response, resolve))
  res.writeHead(302, { Location: '/login' }).end()
  expect(await attemptsLeft(guard)).toBe(9)
})

test('a redirect to a relative path is no success, since the attempt writes what it is relative to', async () => {
  expect(await isSuccess(redirect('home'))).toBe(false)
  expect(await isSuccess(redirect('sign-in?error=1'), { failureRedirect: '/login/sign-in' }, '/login/')).toBe(
    false,
  )
})

test('a redirect that nobody told of is told once, with the mend; where it was told, nothing is', async () => {
  const warnings = listenForWarnings()
  await isSuccess(redirect('/home'), { failureRedirect: false })
  await isSuccess(redirect('/home'), { failureRedirect: '/sign-in' })
  await isSuccess(redirect('/login'))
  expect(warnings()).toEqual([])
  for (let i = 0; i < 2; i++) expect(await isSuccess(redirect('/home'))).toBe(true)
  expect(warnings()).toEqual(['HEADGATE_REDIRECT_UNTOLD'])
  jest.restoreAllMocks()
})

test('headers that are written by hand count as any', async () => {
  expect(await isSuccess((res) => res.writeHead(302, { Location: '/login' }).end())).toBe(false)
  expect(await isSuccess((res) => res.writeHead(302, { Location: '/home' }).end())).toBe(true)
})

test('a function of the application decides instead', async () => {
  const succeeded = (_req: Request, res: Response) => res.locals.isIn === true
  const letIn = (isIn: unknown) => (res: Response) => {
    res.locals.isIn = isIn
    res.send('200 in any case')
  }
  expect(await isSuccess(letIn(true), { succeeded })).toBe(true)
  expect(await isSuccess(letIn(false), { succeeded })).toBe(false)
})

test.each<[string, () => unknown, string]>([
  [
    'throws',
    () => {
      throw new Error('no locals')
    },
    'no locals',
  ],
  [
    'gives a user',
    () => ({ name: 'ada' }),
    'loginGuard: succeeded must return true or false, and not a promise, got an object.',
  ],
  [
    'is async',
    async () => true,
    'loginGuard: succeeded must return true or false, and not a promise, got an object.',
  ],
  [
    'is async and fails',
    () => Promise.reject(new Error('x')),
    'loginGuard: succeeded must return true or false, and not a promise, got an object.',
  ],
])('one that %s is told, makes a failure, and spoils no response', async (_how, succeeded, message) => {
  const told: unknown[] = []
  const guard = loginGuard<Request, Response>({ field: 'username', succeeded: succeeded as () => boolean })
  guard.limiter.events.on('refundFailed', (error) => told.push((error as Error).message))
  const app = express().post('/login', express.json(), guard, (_req, res) => void res.send('in'))
  const response = await supertest(app).post('/login').send({ username: 'ada' })
  expect({ told, status: response.status, text: response.text }).toEqual({
    told: [message],
    status: 200,
    text: 'in',
  })
  expect(await attemptsLeft(guard)).toBe(9)
})

test('what onLockout throws is told, and the account is locked all the same', async () => {
  const warnings = listenForWarnings()
  const guard = loginGuard<Request, Response>({
    field: 'username',
    consecutive: 1,
    onLockout: () => Promise.reject(new Error('no mail')),
  })
  const app = express().post('/login', express.json(), guard, (_req, res) => void res.sendStatus(401))
  const ask = async () => (await supertest(app).post('/login').send({ username: 'ada' })).status
  expect([await ask(), await ask()]).toEqual([401, 429])
  expect(warnings()).toEqual(['HEADGATE_LOCKOUT_FAILED'])
  jest.restoreAllMocks()
})
