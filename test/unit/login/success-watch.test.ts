import express, { type Request, type Response } from 'express'
import { type LoginGuardOptions, loginGuard, memoryStore } from 'headgate'
import supertest from 'supertest'
import { successWatch } from '../../../src/login/success-watch.js'
import { recordWarnings } from '../../support/warnings.js'

const warnings = recordWarnings()

/** Returns what records a success: of a request, an account, and an address. */
function watchOf(now?: () => number) {
  const watch = successWatch('login', now)
  return (req: unknown, account: string, address?: unknown) => watch.recordSuccess(req, account, address)
}

/** A login that responds 200 to everything, as one that shows its form again. */
function brokenLogin(options: Partial<LoginGuardOptions<Request, Response>> = {}) {
  const guard = loginGuard<Request, Response>({ field: 'username', store: memoryStore(), ...options })
  const app = express().post('/login', express.json(), guard, (_req, res) => void res.send('Try again'))
  return (body: object, from = 'home') => supertest(app).post('/login').set('x-from', from).send(body)
}

test('an application that responds 200 to wrong passwords is told so, once', async () => {
  const attempt = brokenLogin({ name: 'staff' })
  for (let i = 0; i < 9; i++) await attempt({ username: 'ada', password: `guess ${i}` })
  expect(warnings()).toEqual([])
  for (let i = 9; i < 30; i++) await attempt({ username: i % 2 ? 'ada' : 'bob', password: `guess ${i}` })
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
  const [message] = jest.mocked(process.emitWarning).mock.calls[0] ?? []
  expect(message).toContain('loginGuard "staff" counted 10 different passwords of one account as successes')
  expect(message).not.toContain('guess')
})

test.each([
  ...['password', 'user_pass', 'pwd', 'Passwort', 'pin', 'pw', 'user_pw', 'secret', 'mdp', 'mot_de_passe'],
  ...['wachtwoord', 'contraseña', 'senha', 'hasło', 'heslo', 'jelszó', 'lösenord', 'şifre', 'пароль', '密码'],
])('reads the password in the field %s', (name) => {
  const watch = watchOf()
  for (let i = 0; i < 10; i++) watch({ body: { username: 'ada', [name]: `${i}` } }, 'ada')
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
})

test('a secret that is the same for all does not hide the password', () => {
  const watch = watchOf()
  for (let i = 0; i < 10; i++) watch({ body: { client_secret: 'one', password: `${i}` } }, 'ada')
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
})

test('reads the password of Basic authentication', () => {
  const watch = watchOf()
  for (let i = 0; i < 10; i++) watch({ headers: { authorization: `Basic ${btoa(`ada:${i}`)}` } }, 'ada')
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
})

test('an ordinary login form gets no warning, however many log in, and from wherever', () => {
  let nowMs = 0
  const watch = watchOf(() => nowMs)
  for (let i = 0; i < 5000; i++) {
    const names = [
      'csrf',
      '_token',
      'state',
      'nonce',
      'code',
      'passcode',
      'otp',
      'captcha',
      'passkey',
      'time',
    ]
    const changing = Object.fromEntries(names.map((name) => [name, `${i}`]))
    const address = `192.0.2.${i % 256}`
    watch({ body: { ...changing, password: 'the one of a class' } }, 'class', address)
    watch({ body: { ...changing, password: `own ${i}` } }, `user ${i}`, address)
    watch({ body: changing }, 'by code', `192.0.2.${i % 9}`)
    watch({ headers: { authorization: `Bearer ${i}` } }, `by token ${i}`, address)
    watch(undefined, 'nothing')
    watch(undefined, 'an address that comes later', Promise.resolve(address))
    if (i % 300 === 299) watch({ body: { password: `changed ${i}` } }, 'class')
    nowMs += 10_000
  }
  expect(warnings()).toEqual([])
})

test('logins of one account from many addresses are reported where no password is found', async () => {
  const attempt = brokenLogin({ name: 'codes', address: (req) => String(req.get('x-from')) })
  for (let i = 0; i < 9; i++) await attempt({ username: 'ada', number: i }, `address ${i}`)
  await attempt({ username: 'ada', number: 9 }, 'address 8')
  await attempt({ username: 'bob', number: 9 }, 'address 9')
  expect(warnings()).toEqual([])
  await attempt({ username: 'ada', number: 9 }, 'address 9')
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
  const [message] = jest.mocked(process.emitWarning).mock.calls[0] ?? []
  expect(message).toContain(
    'loginGuard "codes" counted logins of one account from 10 IP addresses as successes',
  )
})

test('where a 401 shows that passwords are checked, users may come from anywhere', () => {
  const watch = successWatch('login')
  watch.recordRejection()
  for (let i = 0; i < 100; i++) watch.recordSuccess({ body: { code: i } }, 'support', `192.0.2.${i}`)
  expect(warnings()).toEqual([])
  for (let i = 0; i < 10; i++) watch.recordSuccess({ body: { password: `${i}` } }, 'ada', '192.0.2.1')
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
})

test('watches a bounded number of accounts, and forgets the oldest', () => {
  const watch = watchOf()
  const attempt = (account: string, i: number) => watch({ body: { password: `${i}` } }, account)
  for (let i = 0; i < 9; i++) attempt('ada', i)
  for (let i = 0; i < 1000; i++) attempt(`user ${i}`, 0)
  for (let i = 9; i < 18; i++) attempt('ada', i)
  expect(warnings()).toEqual([])
  attempt('ada', 18)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
})
