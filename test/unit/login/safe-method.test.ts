import express, { type Request, type RequestHandler, type Response } from 'express'
import { type LoginGuardOptions, loginGuard, memoryStore } from 'headgate'
import { closeServers, send, serve } from '../../support/http.js'
import { recordWarnings } from '../../support/warnings.js'
import { attemptsLeft } from './attempt-outcome.js'

type Options = Partial<LoginGuardOptions<Request, Response>>

const warnings = recordWarnings()
afterEach(closeServers)

const SAFE = ['GET', 'HEAD', 'OPTIONS', 'TRACE']
const secret = 'sixteen characters or more'

/** Starts a login for all methods, whose handler responds as the body says. */
async function login({ account, ...options }: Options = {}) {
  const from = account === undefined ? { field: 'username' } : { account }
  const guard = loginGuard<Request, Response>({ ...from, store: memoryStore(), ...options })
  const respond: RequestHandler = (req, res) => {
    const { status = 200, location } = req.body ?? {}
    if (location) res.location(location)
    res.status(status).end()
  }
  const served = await serve(express().use(express.json()).all('/login', guard, respond))
  return {
    guard,
    send(method: string, sent?: object) {
      const body = JSON.stringify({ username: 'ada', ...sent })
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      return send(served, { method, path: '/login', ...(sent && { headers, body }) })
    },
    failures: async () => 10 - ((await attemptsLeft(guard)) as number),
  }
}

test.each(SAFE)('a success on %s clears no failures, costs nothing and gets no cookie', async (method) => {
  const cases: [Options, object][] = [
    [{}, { status: 200 }],
    [{}, { status: 204 }],
    [{ failureRedirect: '/login' }, { status: 302, location: '/home' }],
    [{ path: '/login' }, { status: 200 }],
  ]
  for (const [options, response] of cases) {
    const { send, failures } = await login({ name: 'login', deviceCookie: { secret }, ...options })
    for (let i = 0; i < 2; i++) await send('POST', { status: 401 })
    const { headers } = await send(method, response)
    expect({ response, failures: await failures() }).toEqual({ response, failures: 2 })
    expect(headers['set-cookie']).toBeUndefined()
  }
})

test.each(['GET', 'PUT', 'PATCH', 'DELETE'])(
  'a success on %s that succeeded returns is one',
  async (method) => {
    for (const path of [undefined, '/login'] as const) {
      const succeeded: Options['succeeded'] = (_req, res) => res.statusCode < 300
      const options = { name: 'login', deviceCookie: { secret }, succeeded, ...(path && { path }) }
      const { send, failures } = await login(options)
      for (let i = 0; i < 2; i++) await send(method, { status: 401 })
      const { headers } = await send(method, { status: 200 })
      expect({ path, failures: await failures() }).toEqual({ path, failures: 0 })
      expect(headers['set-cookie']).toHaveLength(1)
      if (path === undefined) continue
      expect(warnings()).toEqual(['GET', 'DELETE'].includes(method) ? ['HEADGATE_LOGIN_PATH'] : [])
    }
  },
)

test('with path, succeeded decides only there', async () => {
  const { send, failures } = await login({ path: '/signin', succeeded: () => true })
  for (const method of ['POST', 'GET', 'PUT']) {
    await send('POST', { status: 200 })
    await send(method, { status: 200 })
  }
  expect(await failures()).toBe(0)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_PATH'])
})

test.each<[object, Options, number]>([
  [{ status: 401 }, {}, 1],
  [{ status: 403 }, {}, 1],
  [{ status: 422 }, {}, 1],
  [{ status: 302, location: '/login?error' }, {}, 1],
  [{ status: 302, location: '/login?error' }, { failureRedirect: '/login' }, 1],
  [{ status: 200 }, { succeeded: () => false }, 1],
  [{ status: 304 }, {}, 0],
  [{ status: 304 }, { succeeded: () => false }, 1],
  [{ status: 404 }, {}, 0],
  [{ status: 405 }, {}, 0],
  [{ status: 501 }, { succeeded: () => false }, 0],
])(
  'GET with %j and %j counts %d failures, so that a handler of all methods is no way to guess',
  async (response, options, expected) => {
    const { send, failures } = await login(options)
    await send('GET', response)
    expect(await failures()).toBe(expected)
  },
)

test('guesses by safe methods are limited like those by POST', async () => {
  for (const method of SAFE) {
    const { send } = await login()
    const statuses: number[] = []
    for (let i = 0; i < 7; i++) statuses.push((await send(method, { status: 401 })).status)
    expect({ method, statuses }).toEqual({ method, statuses: [401, 401, 401, 401, 401, 429, 429] })
  }
})

test('in report mode, a success on a safe method clears nothing either', async () => {
  const { send, failures } = await login({ mode: 'report' })
  for (let i = 0; i < 3; i++) await send('POST', { status: 401 })
  await send('OPTIONS', { status: 200 })
  expect(await failures()).toBe(3)
})

test('an account function is asked on safe methods, too; without an account they pass uncharged', async () => {
  const account = (req: Request) => req.body?.username
  const { guard, send, failures } = await login({ account })
  for (let i = 0; i < 60; i++) expect((await send('GET')).status).toBe(200)
  expect((await guard.limiter.peek({ ip: '127.0.0.1' } as Request)).parts[0]).toMatchObject({ remaining: 50 })
  await send('GET', { status: 401 })
  expect(await failures()).toBe(1)
})

test('what is no name gets 400 by POST, and on a safe method only its address is limited', async () => {
  const { send } = await login({ account: (req) => req.body?.username ?? null })
  expect((await send('POST', { username: ['ada'] })).status).toBe(400)
  expect((await send('GET')).status).toBe(200) // a form, fetched without a name
  const statuses: number[] = []
  for (let i = 0; i < 52; i++) statuses.push((await send('GET', { username: ['ada'], status: 401 })).status)
  expect(statuses).toEqual([...Array(50).fill(401), 429, 429])
})
