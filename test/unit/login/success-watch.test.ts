import express, { type Request, type Response } from 'express'
import { type LoginGuardOptions, loginGuard, memoryStore } from 'headgate'
import supertest from 'supertest'
import { successWatch } from '../../../src/login/success-watch.js'
import { recordWarnings } from '../../support/warnings.js'

const warnings = recordWarnings()

/** A login that responds 200 to everything, as one that shows its form again. */
function brokenLogin(options: Partial<LoginGuardOptions<Request, Response>> = {}) {
  const guard = loginGuard<Request, Response>({ field: 'username', store: memoryStore(), ...options })
  const app = express().post('/login', express.json(), guard, (_req, res) => void res.send('Try again'))
  return (body: object) => supertest(app).post('/login').send(body)
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
  const watch = successWatch('login')
  for (let i = 0; i < 10; i++) watch({ body: { username: 'ada', [name]: `${i}` } }, 'ada', 0)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
})

test('a secret that is the same for all does not hide the password', () => {
  const watch = successWatch('login')
  for (let i = 0; i < 10; i++) watch({ body: { client_secret: 'one', password: `${i}` } }, 'ada', 0)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
})

test('reads the password of Basic authentication', () => {
  const watch = successWatch('login')
  for (let i = 0; i < 10; i++) watch({ headers: { authorization: `Basic ${btoa(`ada:${i}`)}` } }, 'ada', 0)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
})

test('an ordinary login form gets no warning, however many log in, and from wherever', () => {
  let nowMs = 0
  const watch = successWatch('login', () => nowMs)
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
    watch({ body: { ...changing, password: 'the one of a class' }, ip: `192.0.2.${i % 256}` }, 'class', i % 3)
    watch({ body: { ...changing, password: `own ${i}` } }, `user ${i}`, 2)
    watch({ body: changing }, 'by code', 0)
    watch({ headers: { authorization: `Bearer ${i}` } }, 'by token', 0)
    watch(undefined, 'nothing', 0)
    if (i % 300 === 299) watch({ body: { password: `changed ${i}` } }, 'class', 9)
    nowMs += 10_000
  }
  expect(warnings()).toEqual([])
})

test('an account that logs in after failures again and again checks no password between', () => {
  const watch = successWatch('codes')
  for (let i = 0; i < 9; i++) watch({ body: { resend: true } }, 'ada', 4)
  expect(warnings()).toEqual([])
  watch({ body: { resend: true } }, 'ada', 3)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
})

test('watches a bounded number of accounts, and forgets the oldest', () => {
  const watch = successWatch('login')
  const attempt = (account: string, i: number) => watch({ body: { password: `${i}` } }, account, 0)
  for (let i = 0; i < 9; i++) attempt('ada', i)
  for (let i = 0; i < 1000; i++) attempt(`user ${i}`, 0)
  for (let i = 9; i < 18; i++) attempt('ada', i)
  expect(warnings()).toEqual([])
  attempt('ada', 18)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_SUCCESSES'])
})
