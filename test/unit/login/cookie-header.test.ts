import type { Request } from 'express'
import * as cookieHeader from '../../../src/login/cookie-header.js'
import { cookieOf, guardedLogin, RIGHT } from './guarded-login.js'

jest.mock('../../../src/login/cookie-header', () => {
  const actual = jest.requireActual('../../../src/login/cookie-header')
  return { ...actual, readDeviceCookies: jest.fn(actual.readDeviceCookies) }
})

const read = jest.mocked(cookieHeader.readDeviceCookies)
const NAME = '__Host-headgate-device-abcdefgh'

/** A login that notes each reading of a request's Cookie header. */
function watchedLogin() {
  const readings: string[] = []
  const login = guardedLogin({
    name: 'login',
    deviceCookie: { secret: 'sixteen characters or more' },
    skip(req: Request) {
      const { cookie = '' } = req.headers
      Object.defineProperty(req.headers, 'cookie', {
        get() {
          readings.push(cookie)
          return cookie
        },
      })
      return false
    },
  })
  return { ...login, readings }
}

beforeEach(() => read.mockClear())

test('the Cookie header is read once for each attempt, however many limits need the device', async () => {
  const { attempt, readings } = watchedLogin()
  const first = await attempt('ada', RIGHT)
  const own = cookieOf(first)
  const statuses = [first.status]
  for (const password of [RIGHT, ...new Array(11).fill('wrong')]) {
    statuses.push((await attempt('ada', password, undefined, own)).status)
  }
  expect(statuses).toEqual([200, 200, 401, 401, 401, 401, 401, 429, 429, 429, 429, 429, 429])
  expect(readings).toHaveLength(13)
  expect(read).toHaveBeenCalledTimes(13)
})

describe('readDeviceCookies', () => {
  let matched: jest.SpyInstance
  beforeEach(() => {
    matched = jest.spyOn(String.prototype, 'matchAll')
  })
  afterEach(() => matched.mockRestore())

  test('parses nothing where there is no device cookie', () => {
    const many = Array.from({ length: 3000 }, (_, i) => `${i}=`).join(';')
    expect(cookieHeader.readDeviceCookies(many).size).toBe(0)
    expect(cookieHeader.readDeviceCookies(undefined).size).toBe(0)
    expect(matched).not.toHaveBeenCalled()
  })

  test('passes over other cookies', () => {
    const many = Array.from({ length: 3000 }, (_, i) => `${i}=`).join(';')
    const found = cookieHeader.readDeviceCookies(`${many};${NAME}=a;${many}`)
    expect([...found]).toEqual([[NAME, 'a']])
    expect(matched).toHaveBeenCalledTimes(1)
  })
})

test.each([
  ['alone', `${NAME}=a`],
  ['between others', `x=y; ${NAME}=a; z`],
  ['with blanks around it', ` x ;\t ${NAME} \t=  a \t; z=1`],
  ['twice', `${NAME}=a; ${NAME}=b`],
  ['after pairs without a name or a value', `;;=; =;x;${NAME}=a`],
  ['after its name in other places', `x=${NAME}=b; y${NAME}=b; ${NAME}; ${NAME}x=b; ${NAME}=a`],
])('a device cookie is found %s', (_where, header) => {
  expect([...cookieHeader.readDeviceCookies(header)]).toEqual([[NAME, 'a']])
})

test.each([
  ['quotes, which no browser adds', `${NAME}="a"`, '"a"'],
  ['an empty value', `${NAME}=; ${NAME}=a`, ''],
  ['equals signs', `${NAME}=a=b`, 'a=b'],
])('the value of a device cookie includes %s', (_what, header, value) => {
  expect([...cookieHeader.readDeviceCookies(header)]).toEqual([[NAME, value]])
})

test('a header full of device cookies is read in one pass', () => {
  const repeated = `${NAME}=;`.repeat(500)
  expect([...cookieHeader.readDeviceCookies(repeated)]).toEqual([[NAME, '']])
  const names = Array.from({ length: 500 }, (_, i) => `${NAME.slice(0, -8)}${String(i).padStart(8, '0')}`)
  expect([...cookieHeader.readDeviceCookies(names.map((name) => `${name}=`).join(';')).keys()]).toEqual(names)
  expect(cookieHeader.readDeviceCookies(NAME.repeat(500)).size).toBe(0)
  expect(cookieHeader.readDeviceCookies(`${`;${' '.repeat(100)}`.repeat(160)}${NAME}`).size).toBe(0)
})
