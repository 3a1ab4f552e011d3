import express, { type Request, type Response } from 'express'
import { loginGuard } from 'headgate'
import supertest from 'supertest'
import { listenForWarnings } from '../../support/warnings.js'
import { attemptsLeft, isSuccess, redirect } from './attempt-outcome.js'

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
])('by default, status %d is a success: %s', async (status, expected) => {
  expect(await isSuccess((res) => res.status(status).end())).toBe(expected)
})

test('succeeded and failureRedirect read the headers that were passed to writeHead', async () => {
  const succeeded = (_req: Request, res: Response) => res.getHeader('location') === '/home'
  const redirectByHand = (location: string) => (res: Response) => void res.writeHead(302, { location }).end()
  expect(await isSuccess(redirectByHand('/login'), { succeeded })).toBe(false)
  expect(await isSuccess(redirectByHand('/home'), { succeeded })).toBe(true)
  const failureRedirect = '/login'
  expect(await isSuccess(redirectByHand('/login'), { failureRedirect })).toBe(false)
  expect(await isSuccess(redirectByHand('/home'), { failureRedirect })).toBe(true)
})

test('succeeded replaces the rule by status', async () => {
  const succeeded = (_req: Request, res: Response) => res.locals.isIn === true
  const letIn = (isIn: unknown) => (res: Response) => {
    res.locals.isIn = isIn
    res.send('200 in any case')
  }
  expect(await isSuccess(letIn(true), { succeeded })).toBe(true)
  expect(await isSuccess(letIn(false), { succeeded })).toBe(false)
  expect(await isSuccess(redirect('/home'), { succeeded: () => true })).toBe(true)
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
    'returns a user',
    () => ({ name: 'ada' }),
    'loginGuard: succeeded must return true or false, not a promise, got an object.',
  ],
  [
    'is async',
    async () => true,
    'loginGuard: succeeded must return true or false, not a promise, got an object.',
  ],
  [
    'is async and fails',
    () => Promise.reject(new Error('x')),
    'loginGuard: succeeded must return true or false, not a promise, got an object.',
  ],
])(
  'a succeeded that %s is reported, makes a failure, and does not change the response',
  async (_how, succeeded, message) => {
    const reported: unknown[] = []
    const guard = loginGuard({ field: 'username', succeeded: succeeded as () => boolean })
    guard.limiter.events.on('refundFailed', (error) => reported.push((error as Error).message))
    const app = express().post('/login', express.json(), guard, (_req, res) => void res.send('in'))
    const response = await supertest(app).post('/login').send({ username: 'ada' })
    expect({ reported, status: response.status, text: response.text }).toEqual({
      reported: [message],
      status: 200,
      text: 'in',
    })
    expect(await attemptsLeft(guard)).toBe(9)
  },
)

test('an error in onLockout emits a warning, and the account is still locked', async () => {
  const warnings = listenForWarnings()
  const guard = loginGuard({
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
