import express, { type Request, type Response } from 'express'
import { loginGuard, memoryStore, type Store } from 'headgate'
import { customStore } from 'headgate/store'
import supertest from 'supertest'
import { clearBudget } from '../../../src/login/clear-budget.js'
import { recordWarnings } from '../../support/warnings.js'
import { cookieOf, guardedLogin, HOME, RIGHT, secret } from './guarded-login.js'

const warnings = recordWarnings()
const devices = { name: 'login', deviceCookie: { secret } }

/** Returns how many failures at ada, each from a new address, deny her, who logs in after every few of them. */
async function failuresUntilDenied(login: ReturnType<typeof guardedLogin>, between: number, cookie?: string) {
  for (let failures = 1; failures <= 200; failures++) {
    await login.attempt('ada', 'wrong', `guesser ${failures}`)
    if (failures % between > 0) continue
    const { status } = await login.attempt('ada', RIGHT, HOME, cookie)
    if (status === 429) return failures
  }
  return undefined
}

/** Has guessers fail nine times before each login of ada, until her logins have cleared 36 failures. */
async function useUp(login: ReturnType<typeof guardedLogin>): Promise<void> {
  for (let i = 0; i < 36; i++) {
    await login.attempt('ada', 'wrong', `guesser ${i}`)
    if (i % 9 === 8) expect((await login.attempt('ada', RIGHT, HOME)).status).toBe(200)
  }
}

test('once successes have cleared 30 failures of an account, further ones clear none and set no cookie', async () => {
  const login = guardedLogin({ ...devices, address: (req) => req.get('x-forwarded-for') })
  await useUp(login)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
  const [message] = jest.mocked(process.emitWarning).mock.calls[0] ?? []
  expect(message).toContain('loginGuard "login" cleared 30 failures of one account within an hour')
  for (let i = 0; i < 9; i++) {
    await login.attempt('ada', 'wrong', `another ${i}`)
    const right = await login.attempt('ada', RIGHT, HOME) // the right password still gets in
    expect([right.status, cookieOf(right)]).toEqual([200, ''])
  }
  await login.attempt('ada', 'wrong', 'another 9')
  expect((await login.attempt('ada', RIGHT, HOME)).status).toBe(429)
  login.advance(30 * 60_000)
  expect((await login.attempt('ada', RIGHT, HOME)).status).toBe(200)
  expect((await login.attempt('grace', 'nanoseconds', HOME)).status).toBe(200)
})

test('no guesser can lock a user out with fewer failures than without the budget', async () => {
  const options = { address: (req: { get(name: string): string | undefined }) => req.get('x-forwarded-for') }
  expect(await failuresUntilDenied(guardedLogin(options), 10)).toBe(10)
  for (const [between, failures] of [
    [9, 54],
    [5, 40],
    [1, 40],
  ] as const)
    expect(await failuresUntilDenied(guardedLogin(options), between)).toBe(failures)
})

test('guessers never use up what the known devices of the account have', async () => {
  const login = guardedLogin({ ...devices, address: (req) => req.get('x-forwarded-for') })
  const known = cookieOf(await login.attempt('ada', RIGHT, HOME))
  await useUp(login)
  for (let i = 0; i < 7; i++) {
    for (let j = 0; j < 4; j++) await login.attempt('ada', 'wrong', HOME, known)
    const right = await login.attempt('ada', RIGHT, HOME, known)
    expect([right.status, cookieOf(right) === '']).toEqual([200, false])
  }
})

test('a success that the application reports always clears', async () => {
  const guard = loginGuard<Request, Response>({ field: 'username', store: memoryStore() })
  const app = express().post('/login', express.json(), guard, ({ body }, res) => {
    if (body.password === RIGHT) guard.reportSuccess(res.req as Request)
    res.sendStatus(body.password === RIGHT ? 200 : 401)
  })
  for (let i = 0; i < 50; i++) {
    const password = i % 5 === 4 ? RIGHT : 'wrong'
    const { status } = await supertest(app).post('/login').send({ username: 'ada', password })
    expect(status).toBe(password === RIGHT ? 200 : 401)
  }
  expect(warnings()).toEqual([])
})

test('attempts in progress in any process do not count as cleared failures', async () => {
  const { apply } = memoryStore()
  const logins = ['one process', 'another'].map((name) => {
    const store: Store = customStore({ name, apply: (operations) => apply(operations) }) // the same states, as on a server
    return guardedLogin({ store, name: 'login' }, 20)
  })
  for (let i = 0; i < 10; i++) {
    const attempts = logins.flatMap((login) => [login.attempt('ada', RIGHT), login.attempt('ada', RIGHT)])
    for (const { status } of await Promise.all(attempts)) expect(status).toBe(200)
  }
  expect(warnings()).toEqual([])
})

test('failures during a slow login are cleared by it, and counted', async () => {
  const login = guardedLogin({ address: (req) => req.get('x-forwarded-for') }, 20)
  for (let i = 0; i < 8; i++) {
    const attempts = Array.from({ length: 4 }, (_, j) => login.attempt('ada', 'wrong', `guesser ${i} ${j}`))
    await Promise.all([...attempts, login.attempt('ada', RIGHT, HOME)])
    await login.attempt('ada', RIGHT, HOME)
  }
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
})

test('what was cleared counts for an hour', () => {
  let nowMs = 0
  const budget = clearBudget('login', () => nowMs)
  budget.spend('ada', 29)
  nowMs += 1_800_000
  expect(budget.isUsedUp('ada')).toBe(false)
  budget.spend('ada', 9)
  expect(budget.isUsedUp('ada')).toBe(true)
  expect(budget.isUsedUp('bob')).toBe(false)
  nowMs += 1_800_000
  expect(budget.isUsedUp('ada')).toBe(false)
})

test('remembers a bounded number of accounts, and forgets those that have used least', () => {
  const budget = clearBudget('login')
  budget.spend('ada', 30)
  budget.spend('bob', 1)
  for (let i = 0; i < 1100; i++) budget.spend(`user ${i}`, 1)
  expect(budget.isUsedUp('ada')).toBe(true)
  budget.spend('bob', 29) // was forgotten
  expect(budget.isUsedUp('bob')).toBe(false)
})
