import { cookieOf, guardedLogin, HOME, RIGHT, secret } from './guarded-login.js'

/** Guesses at ada's password from many addresses until strangers are refused. */
async function flood({ attempt }: ReturnType<typeof guardedLogin>): Promise<void> {
  for (let i = 0; i < 12; i++) await attempt('ada', 'wrong', `198.51.100.${i}`)
  expect((await attempt('ada', RIGHT, '198.51.100.99')).status).toBe(429)
}

afterEach(() => jest.useRealTimers())

test('a known browser gets in while strangers flood the account, and they stay refused', async () => {
  const login = guardedLogin({ name: 'login', deviceCookie: { secret } })
  const cookie = cookieOf(await login.attempt('ada', RIGHT, HOME))
  await flood(login)
  expect((await login.attempt('ada', RIGHT, HOME)).status).toBe(429)
  expect((await login.attempt('ada', RIGHT, HOME, cookie)).status).toBe(200)
  expect((await login.attempt('ada', RIGHT, '198.51.100.99')).status).toBe(429) // its success is not theirs
})

test('a known browser gets in after strangers have locked the account', async () => {
  const login = guardedLogin({ name: 'login', deviceCookie: { secret }, consecutive: 12 })
  const cookie = cookieOf(await login.attempt('ada', RIGHT, HOME))
  for (let i = 0; i < 13; i++) {
    await login.attempt('ada', 'wrong', `198.51.100.${i}`)
    login.advance(40 * 60_000)
  }
  login.advance(1e11)
  expect((await login.attempt('ada', RIGHT, HOME)).status).toBe(429)
  expect((await login.attempt('ada', RIGHT, HOME, cookie)).status).toBe(200)
})

test('a known browser gets in although its address is refused for the failures of others', async () => {
  const login = guardedLogin({ name: 'login', deviceCookie: { secret } })
  const cookie = cookieOf(await login.attempt('ada', RIGHT, HOME))
  for (let i = 0; i < 55; i++) await login.attempt(`user-${i}`, 'wrong', HOME)
  expect((await login.attempt('ada', RIGHT, HOME)).status).toBe(429)
  expect((await login.attempt('ada', RIGHT, HOME, cookie)).status).toBe(200)
  expect((await login.attempt('grace', 'nanoseconds', HOME, cookie)).status).toBe(429) // the cookie is ada's
})

test('a known browser has limits of its own', async () => {
  const login = guardedLogin({ name: 'login', deviceCookie: { secret } })
  const cookie = cookieOf(await login.attempt('ada', RIGHT, HOME))
  const statuses: number[] = []
  for (let i = 0; i < 12; i++)
    statuses.push((await login.attempt('ada', 'wrong', `10.0.0.${i}`, cookie)).status)
  expect(statuses).toEqual([...new Array(10).fill(401), 429, 429])
  expect((await login.attempt('ada', RIGHT, HOME)).status).toBe(200) // as a stranger
})

test('each success extends how long a browser is known', async () => {
  jest.useFakeTimers({
    doNotFake: ['nextTick', 'setImmediate', 'setTimeout', 'setInterval'],
    now: Date.now(),
  })
  const login = guardedLogin({ name: 'login', deviceCookie: { secret, lasts: '10d' } })
  const first = cookieOf(await login.attempt('ada', RIGHT, HOME))
  jest.setSystemTime(Date.now() + 9 * 86_400_000)
  const second = cookieOf(await login.attempt('ada', RIGHT, HOME, first))
  expect(second).not.toBe(first)
  expect(second.split('.')[0]).toBe(first.split('.')[0])
  jest.setSystemTime(Date.now() + 9 * 86_400_000)
  await flood(login)
  expect((await login.attempt('ada', RIGHT, HOME, first)).status).toBe(429) // expired
  expect((await login.attempt('ada', RIGHT, HOME, second)).status).toBe(200)
})

test('the cookie holds no name, and is restricted to TLS, this host and HTTP', async () => {
  const { attempt } = guardedLogin({ name: 'login', deviceCookie: { secret } })
  const header = String((await attempt('ada', RIGHT)).headers['set-cookie'])
  expect(header).toMatch(
    /^__Host-headgate-device-[\w-]{8}=[\w-]{16}\.[0-9a-z]+\.[\w-]{43}; Max-Age=7776000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  )
  expect((await attempt('ada', 'wrong')).headers).not.toHaveProperty('set-cookie')
})

describe('a browser is a stranger with', () => {
  const cases: [string, (cookie: string) => string][] = [
    ['a signature that was changed', (cookie) => `${cookie.slice(0, -1)}${cookie.endsWith('A') ? 'E' : 'A'}`],
    ['a later expiry', (cookie) => cookie.replace(/\.\w+\./, '.zzzzzz.')],
    ['another device', (cookie) => cookie.replace(/=./, (start) => (start === '=A' ? '=B' : '=A'))],
    [
      'the name of another account’s',
      (cookie) => cookie.replace(/.=/, (end) => (end === 'A=' ? 'E=' : 'A=')),
    ],
    ['half of it', (cookie) => cookie.slice(0, 40)],
    ['nothing in it', (cookie) => cookie.replace(/=.*/, '=')],
    ['nonsense', (cookie) => cookie.replace(/=.*/, `=${'~'.repeat(2000)}`)],
    ['another name of it', (cookie) => cookie.replace('__Host-', '')],
  ]
  test.each(cases)('%s', async (_what, change) => {
    const login = guardedLogin({ name: 'login', deviceCookie: { secret } })
    const cookie = cookieOf(await login.attempt('ada', RIGHT, HOME))
    await flood(login)
    expect((await login.attempt('ada', RIGHT, HOME, change(cookie))).status).toBe(429)
    expect((await login.attempt('ada', RIGHT, HOME, cookie)).status).toBe(200)
  })

  test('the cookie of another account, or one signed with another secret', async () => {
    const login = guardedLogin({ name: 'login', deviceCookie: { secret } })
    const other = cookieOf(await login.attempt('grace', 'nanoseconds', HOME))
    const elsewhere = guardedLogin({
      name: 'login',
      deviceCookie: { secret: 'another of sixteen characters' },
    })
    const foreign = cookieOf(await elsewhere.attempt('ada', RIGHT, HOME))
    await flood(login)
    for (const cookie of [other, foreign])
      expect((await login.attempt('ada', RIGHT, HOME, cookie)).status).toBe(429)
  })
})

test.each([
  ['of another name', { name: 'public' }],
  ['of another prefix', { name: 'staff', prefix: 'public' }],
])('a cookie of a guard %s is not valid, though their secret is the same', async (_what, options) => {
  const elsewhere = guardedLogin({ ...options, deviceCookie: { secret } })
  const staff = guardedLogin({ name: 'staff', deviceCookie: { secret } })
  const foreign = cookieOf(await elsewhere.attempt('ada', RIGHT, HOME))
  const own = cookieOf(await staff.attempt('ada', RIGHT, HOME))
  await flood(staff)
  expect((await staff.attempt('ada', RIGHT, HOME, foreign)).status).toBe(429)
  expect((await staff.attempt('ada', RIGHT, HOME, own)).status).toBe(200)
})

describe('a cookie is valid for the spelling that was typed', () => {
  test('and not for another that the guard folds into the same account', async () => {
    const login = guardedLogin({
      name: 'login',
      deviceCookie: { secret },
      succeeded: (req) => req.body.username === 'Ada',
    })
    const cookie = cookieOf(await login.attempt('Ada', 'her own', HOME))
    await flood(login)
    for (const spelling of ['ada', 'ada ', 'ADA', 'ａｄａ'])
      expect((await login.attempt(spelling, RIGHT, HOME, cookie)).status).toBe(429)
    expect((await login.attempt('Ada', 'her own', HOME, cookie)).status).toBe(401)
  })

  test('even if normalize makes one account of several spellings', async () => {
    const normalize = (name: string) => name.replaceAll('á', 'a')
    const login = guardedLogin({ name: 'login', deviceCookie: { secret }, normalize })
    const cookie = cookieOf(await login.attempt('ada', RIGHT, HOME))
    await flood(login)
    expect((await login.attempt('adá', RIGHT, HOME, cookie)).status).toBe(429)
    expect((await login.attempt('ada', RIGHT, HOME, cookie)).status).toBe(200)
  })

  test('even if the handler changes the name in the body', async () => {
    const login = guardedLogin({
      name: 'login',
      deviceCookie: { secret },
      succeeded: (req, res) => {
        req.body.username = 'changed'
        return res.statusCode === 200
      },
    })
    const cookie = cookieOf(await login.attempt(' ADA', RIGHT, HOME))
    await flood(login)
    expect((await login.attempt(' ADA', RIGHT, HOME, cookie)).status).toBe(200)
    expect((await login.attempt('changed', RIGHT, HOME, cookie)).status).toBe(401)
  })

  test('but for all spellings if a function reads the account', async () => {
    const account = async (req: { body: { username: string } }) => `user:${req.body.username.toLowerCase()}`
    const login = guardedLogin({ name: 'login', deviceCookie: { secret }, account })
    const cookie = cookieOf(await login.attempt('Ada', RIGHT, HOME))
    await flood(login)
    expect((await login.attempt('ADA', RIGHT, HOME)).status).toBe(429)
    expect((await login.attempt('ADA', RIGHT, HOME, cookie)).status).toBe(200)
  })

  test('even if the name is a number, for its digits', async () => {
    const login = guardedLogin({
      name: 'login',
      deviceCookie: { secret },
      succeeded: (req) => req.body.password === RIGHT,
    })
    const cookie = cookieOf(await login.attempt(4711, RIGHT, HOME))
    for (let i = 0; i < 12; i++) await login.attempt('4711', 'wrong', `198.51.100.${i}`)
    expect((await login.attempt('4711', RIGHT, HOME)).status).toBe(429)
    expect((await login.attempt('4711', RIGHT, HOME, cookie)).status).toBe(401) // the handler's, not the guard's
  })
})

test('of several secrets the first one signs, and all of them verify', async () => {
  const behind = (secrets: string[]) => guardedLogin({ name: 'login', deviceCookie: { secret: secrets } })
  const fresh = 'the new one of enough characters'
  const old = cookieOf(await behind([secret]).attempt('ada', RIGHT, HOME))
  const both = behind([fresh, secret])
  await flood(both)
  const response = await both.attempt('ada', RIGHT, HOME, old)
  expect(response.status).toBe(200)
  const statusOf = async (secrets: string[]) => {
    const login = behind(secrets)
    await flood(login)
    return (await login.attempt('ada', RIGHT, HOME, cookieOf(response))).status
  }
  expect([await statusOf([fresh]), await statusOf([secret])]).toEqual([200, 429])
})

/** The cookies of a browser, by name. */
type Jar = Map<string, string>

/**
 * Logs in with the cookies of a browser, which then keeps those of the response, as RFC 6265bis §5.7 has it.
 */
async function browse(login: ReturnType<typeof guardedLogin>, jar: Jar, name: string, password = RIGHT) {
  const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
  const response = await login.attempt(name, password, HOME, cookie)
  const lines = (response.headers['set-cookie'] as unknown as string[] | undefined) ?? []
  for (const line of lines) {
    const [, key = '', value = ''] = /^([^=]*)=([^;]*)/.exec(line) ?? []
    if (line.includes('Max-Age=0')) jar.delete(key)
    else jar.set(key, value)
  }
  return { status: response.status, lines }
}

describe('one browser', () => {
  beforeEach(() =>
    jest.useFakeTimers({
      doNotFake: ['nextTick', 'setImmediate', 'setTimeout', 'setInterval'],
      now: Date.now(),
    }),
  )

  test('is known to ten accounts, and an eleventh replaces the least recent login', async () => {
    const login = guardedLogin({ name: 'login', deviceCookie: { secret }, succeeded: () => true })
    const jar: Jar = new Map()
    const names = Array.from({ length: 10 }, (_, i) => `user-${i}`)
    const cookies: string[] = []
    for (const name of [...names, 'user-0', 'user-10']) {
      const { lines } = await browse(login, jar, name)
      cookies.push(String(/^[^=]*/.exec(lines[0] ?? '')))
      jest.setSystemTime(Date.now() + 1000)
    }
    expect(cookies[10]).toBe(cookies[0])
    expect([...jar.keys()].sort()).toEqual([cookies[0], ...cookies.slice(2, 10), cookies[11]].sort())
  })

  test('loses ten of its surplus cookies at each login', async () => {
    const login = guardedLogin({ name: 'login', deviceCookie: { secret } })
    const jar: Jar = new Map()
    for (let i = 0; i < 60; i++)
      jar.set(`__Host-headgate-device-${String(i).padStart(8, '0')}`, 'any'.repeat(20))
    const { lines } = await browse(login, jar, 'ada')
    expect(lines).toHaveLength(11)
    expect(jar.size).toBe(51)
    for (let i = 0; i < 5; i++) await browse(login, jar, 'ada')
    expect(jar.size).toBe(10)
    await flood(login)
    expect((await browse(login, jar, 'ada')).status).toBe(200)
  })

  test.each([
    [undefined, 11],
    ['same-origin', 11],
    ['same-site', 1],
    ['cross-site', 0],
  ])('gets this many Set-Cookie headers for a form of Sec-Fetch-Site %s: %d', async (site, expected) => {
    const login = guardedLogin({ name: 'login', deviceCookie: { secret } })
    const names = Array.from(
      { length: 20 },
      (_, i) => `__Host-headgate-device-${String(i).padStart(8, '0')}=any`,
    )
    const headers: Record<string, string> = site === undefined ? {} : { 'Sec-Fetch-Site': site }
    const response = await login.attempt('ada', RIGHT, HOME, names.join('; '), headers)
    expect(response.status).toBe(200)
    expect(response.headers['set-cookie'] ?? []).toHaveLength(expected)
  })

  test('is known to two guards on one host', async () => {
    const jar: Jar = new Map()
    const guards = ['site', 'staff'].map((name) => guardedLogin({ name, deviceCookie: { secret } }))
    for (const login of guards) await browse(login, jar, 'ada')
    for (const login of guards) {
      await flood(login)
      expect((await browse(login, jar, 'ada')).status).toBe(200)
    }
  })
})

test('a response to a login without the browser’s cookies adds one, and replaces none', async () => {
  const login = guardedLogin({ name: 'login', deviceCookie: { secret } })
  const jar: Jar = new Map()
  await browse(login, jar, 'ada')
  const [own] = jar
  const { lines } = await browse(login, new Map(), 'grace', 'nanoseconds')
  expect(lines).toHaveLength(1)
  expect(lines[0]).not.toContain(String(own?.[0]))
})

test('each spelling of a name has a cookie of its own', async () => {
  const login = guardedLogin({ name: 'login', deviceCookie: { secret }, succeeded: () => true })
  const cookies = ['Ada', 'ada'].map(async (name) => cookieOf(await login.attempt(name, RIGHT, HOME)))
  const names = (await Promise.all(cookies)).map((cookie) => cookie.split('=', 1)[0])
  expect(new Set(names).size).toBe(2)
})
