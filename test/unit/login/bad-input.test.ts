import { text } from 'node:stream/consumers'
import express, { type Request, type RequestHandler, type Response } from 'express'
import { type LoginGuard, type LoginGuardOptions, loginGuard, memoryStore } from 'headgate'
import { EXPRESS_5, FRAMEWORKS, type Framework, type Handler } from '../../support/frameworks.js'
import {
  closeServers,
  type Sent,
  type Served,
  send,
  sendRaw,
  serve,
  statuses,
  times,
} from '../../support/http.js'
import { listenForWarnings } from '../../support/warnings.js'

const RIGHT = 'analytical engine'
const LIMIT = 5

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

const json = (body: unknown): Sent => ({
  method: 'POST',
  path: '/login',
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const form = (body: string): Sent => ({
  method: 'POST',
  path: '/login',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body,
})
const typed = (type: string, body: string): Sent => ({ ...form(body), headers: { 'content-type': type } })

const MB = 'b'.repeat(2 ** 20)
const MANY_FIELDS = Array.from({ length: 10_000 }, (_, i) => `f${i}=bob`).join('&')
const PARTS = ['--line', 'Content-Disposition: form-data; name="username"', '', 'bob', '--line--', ''].join(
  '\r\n',
)

/** Fields that hold what can be no name. */
const MALFORMED: readonly (readonly [string, Sent])[] = [
  ['a name of 1 MB in a form', form(`username=${MB}`)],
  ['1 MB of letters that grow when normalised', json({ username: '\ufdfa'.repeat(300_000) })],
  ['an array in a form', form('username[]=bob&username[]=eve')],
  ['an array of one', json({ username: ['bob'] })],
  ['the field twice', form('username=bob&username=eve')],
  ['an object in JSON', json({ username: { name: 'bob' } })],
  ['objects in each other', json(`{"username":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`)],
  ['__proto__ in the field', json('{"username":{"__proto__":{"admin":true}}}')],
  ['null', json({ username: null })],
  ['a number that is infinite', json('{"username":1e999}')],
  ['a NUL in a form', form('username=bob%00')],
  ['a joiner, which folding would have removed', json({ username: 'b\u200dob' })],
  ['a private-use character', json({ username: 'bob\ue000' })],
  ['an unassigned code point', json({ username: 'bob\uffff' })],
  ['a control character in JSON', json({ username: 'bob\u0001' })],
  ['a control character beyond ASCII', json({ username: 'b\u009fob' })],
  ['a lone surrogate', json('{"username":"bob\\ud800"}')],
]

/** Requests without the field. */
const WITHOUT: readonly (readonly [string, Sent])[] = [
  ['no body', { method: 'POST', path: '/login' }],
  ['another field', form('user=bob')],
  ['an array as the body', json(['bob'])],
  ['null as the body', json('null')],
  ['__proto__ in JSON', json('{"__proto__":{"username":"bob"}}')],
  ['constructor in a form', form('constructor[prototype][username]=bob')],
  ['text', typed('text/plain', 'username=bob')],
  ['a multipart form', typed('multipart/form-data; boundary=line', PARTS)],
  ['no type', { method: 'POST', path: '/login', body: 'username=bob' }],
]

/** Bodies that the body parser rejects, and with which status. */
const REJECTED_BODIES: readonly (readonly [string, number, Sent])[] = [
  ['broken JSON', 400, json('{"username":')],
  ['JSON that is no object', 400, json('"bob"')],
  ['a body above its size limit', 413, json({ username: MB.repeat(5) })],
  ['more fields than its limit', 413, form(`${MANY_FIELDS}&${MANY_FIELDS}&${MANY_FIELDS}`)],
  ['an unknown charset', 415, typed('application/json; charset=klingon', '{}')],
]

type Body = Record<string, unknown> | undefined

interface Login {
  readonly guard: LoginGuard
  readonly served: Served
  /** Bodies that reached the handler. */
  readonly reached: Body[]
}

type Options = Partial<LoginGuardOptions<Request, Response>>

const newGuard = (options: Options = {}): LoginGuard =>
  loginGuard({
    ...(options.account === undefined && { field: 'username' }),
    store: memoryStore({ clock: () => 0 }),
    ...options,
  })

function passwords(reached: Body[]): RequestHandler {
  return (req, res) => {
    const { body } = req as { body?: Body }
    reached.push(body)
    res.statusCode = body?.password === RIGHT ? 200 : 401
    res.end()
  }
}

const parsers = (): RequestHandler[] => [
  express.urlencoded({ extended: true, limit: '4mb', parameterLimit: 20_000 }),
  express.json({ limit: '4mb', strict: false }),
]

async function startLogin(options?: Options): Promise<Login> {
  const guard = newGuard(options)
  const reached: Body[] = []
  const app = express()
  app.post('/login', ...parsers(), guard, passwords(reached))
  app.use((error: { status?: number }, _req: unknown, res: Response, _next: unknown) => {
    res.status(error.status ?? 500).end()
  })
  return { guard, reached, served: await serve(app) }
}

describe('a malformed field', () => {
  test.each(MALFORMED)('such as %s is answered 400, and does not reach the handler', async (_what, sent) => {
    const own = await startLogin()
    const { status, headers, text: body } = await send(own.served, sent)
    expect(status).toBe(400)
    expect(own.reached).toEqual([])
    expect(headers).not.toHaveProperty('retry-after')
    expect(body).toBe('Bad request.\n')
    // It is as if it had not been sent: a name is let through as often as ever.
    const bob = json({ username: 'bob', password: 'wrong' })
    expect(await statuses(own.served, times(LIMIT + 1, bob))).toEqual([...Array(LIMIT).fill(401), 429])
  })

  test('is answered with a problem document for a client that accepts JSON', async () => {
    const own = await startLogin()
    const sent = json({ username: ['bob'] })
    const answer = await send(own.served, {
      ...sent,
      headers: { ...sent.headers, accept: 'application/json' },
    })
    expect(answer.headers['content-type']).toBe('application/problem+json')
    expect(JSON.parse(answer.text)).toEqual({ type: 'about:blank', title: 'Bad request', status: 400 })
  })

  test('is let through in report mode', async () => {
    const own = await startLogin({ mode: 'report' })
    expect((await send(own.served, json({ username: ['bob'] }))).status).toBe(401)
    expect(own.reached).toEqual([{ username: ['bob'] }])
  })
})

describe('an account function that returns a malformed name', () => {
  const NAMES: readonly (readonly [string, unknown])[] = [
    ['a control character', 'bob\u0001'],
    ['a zero-width space', 'b\u200bob'],
    ['an interlinear annotation', 'bob\ufff9'],
    ['an empty name', ''],
    ['1025 characters', 'b'.repeat(1025)],
    ['a list', ['bob']],
    ['null, as byField returns it', null],
  ]
  const returning = { now: (name: unknown) => name, later: async (name: unknown) => name }

  for (const [when, account] of Object.entries(returning)) {
    test.each(NAMES)(
      `such as %s, ${when}, is answered 400 and does not reach the handler`,
      async (_what, name) => {
        const { guard, served, reached } = await startLogin({ account: () => account(name) })
        expect(await statuses(served, times(3, json({ username: 'bob' })))).toEqual([400, 400, 400])
        expect(reached).toEqual([])
        const { parts } = await guard.limiter.peek({ ip: '127.0.0.1' } as Request)
        expect(parts.find((part) => part.name === 'address')?.remaining).toBe(50)
      },
    )

    test(`or undefined, ${when}, limits the attempt by its address alone`, async () => {
      const { guard, served } = await startLogin({ account: () => account(undefined) })
      expect(await statuses(served, times(LIMIT + 1, json({})))).toEqual(Array(LIMIT + 1).fill(401))
      const { parts } = await guard.limiter.peek({ ip: '127.0.0.1' } as Request)
      expect(parts.map(({ name, remaining }) => [name, remaining])).toEqual([['address', 50 - LIMIT - 1]])
    })
  }

  test('such as an object emits a process warning, once', async () => {
    const { served } = await startLogin({ account: () => ({ id: 7 }) })
    expect(await statuses(served, times(2, json({ username: 'bob' })))).toEqual([400, 400])
    expect(warnings()).toEqual(['HEADGATE_OBJECT_AS_KEY'])
  })

  test('such as an array is charged to its address in report mode', async () => {
    const { served } = await startLogin({ account: () => ['bob'], mode: 'report' })
    expect((await send(served, json({ username: 'bob' }))).status).toBe(401)
  })
})

test.each(WITHOUT)('a login with %s is answered 400', async (_what, sent) => {
  const own = await startLogin()
  expect(await statuses(own.served, times(LIMIT + 1, sent))).toEqual(Array(LIMIT + 1).fill(400))
  expect(own.reached).toEqual([])
  expect((await send(own.served, json({ username: 'bob', password: RIGHT }))).status).toBe(200)
})

test('an empty name is answered 400, however it is written', async () => {
  const { served, reached } = await startLogin()
  const empty = [
    form('username='),
    json({ username: '' }),
    form('username=+++'),
    json({ username: '\u200b' }),
    json({ username: '\u3164' }),
  ]
  expect(await statuses(served, empty)).toEqual(empty.map(() => 400))
  expect(reached).toEqual([])
})

test('a name in the query is not read', async () => {
  const { served, reached } = await startLogin()
  const sent = { ...form('password=wrong'), path: '/login?username=bob' }
  expect((await send(served, sent)).status).toBe(400)
  expect(reached).toEqual([])
})

test('a name among 10,000 other fields is limited like any other', async () => {
  const { served } = await startLogin()
  const sent = form(`${MANY_FIELDS}&username=bob`)
  expect(await statuses(served, times(LIMIT, sent))).toEqual(Array(LIMIT).fill(401))
  expect((await send(served, json({ username: ' BOB ' }))).status).toBe(429)
})

test.each(REJECTED_BODIES)('the body parser rejects %s with %i', async (_what, status, sent) => {
  const guard = newGuard()
  const reached: Body[] = []
  const [urlencoded] = parsers()
  const handlers = [urlencoded, express.json({ limit: '4mb' }), guard, passwords(reached)]
  const served = await serve(EXPRESS_5.app(...(handlers as unknown as Handler[])))
  expect(await statuses(served, times(LIMIT + 2, sent))).toEqual(Array(LIMIT + 2).fill(status))
  expect(reached).toEqual([])
  expect((await send(served, json({ username: 'bob', password: RIGHT }))).status).toBe(200)
})

test('inherited properties are not read as names, and are not changed', async () => {
  const { served } = await startLogin({ field: 'toString' })
  expect(await statuses(served, times(LIMIT + 1, json({ a: 1 })))).toEqual(Array(LIMIT + 1).fill(400))
  expect(({} as Record<string, unknown>).username).toBeUndefined()
  expect(({} as Record<string, unknown>).admin).toBeUndefined()
})

test('a body parser after the guard emits a warning with the fix, once, and no attempt passes', async () => {
  const guard = newGuard()
  const reached: Body[] = []
  const app = express().use(guard, ...parsers(), passwords(reached))
  const served = await serve(app)
  const names = Array.from({ length: LIMIT + 3 }, (_, i) => json({ username: `user-${i}` }))
  expect(await statuses(served, names)).toEqual(names.map(() => 400))
  expect(reached).toEqual([])
  expect(warnings()).toEqual(['HEADGATE_LOGIN_FIELD'])
  expect(warn.mock.calls[0]?.[0]).toMatch(/No body was parsed \(content type: "application\/json"\)/)
})

test('a body with the field and a missing body emit no warning', async () => {
  const { served } = await startLogin()
  expect(await statuses(served, [json({ username: 'bob' }), json({ username: ['bob'] })])).toEqual([401, 400])
  const bare = await sendRaw(served, 'POST /login HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  expect(bare).toMatch(/^HTTP\/1.1 400 /)
  expect(warnings()).toEqual([])
})

test.each(['GET', 'HEAD', 'OPTIONS'])('%s passes unlimited and uncounted', async (method) => {
  const guard = newGuard()
  const seen: unknown[] = []
  const app = express().use(...parsers(), guard, (req, res) => {
    seen.push(req.rateLimit)
    res.status(401).end()
  })
  const served = await serve(app)
  expect(await statuses(served, times(60, { method, path: '/login' }))).toEqual(Array(60).fill(401))
  expect(seen).toEqual(Array(60).fill(undefined))
  const bob = json({ username: 'bob' })
  expect(await statuses(served, times(LIMIT + 1, bob))).toEqual([...Array(LIMIT).fill(401), 429])
  expect(await statuses(served, times(3, { method, path: '/login' }))).toEqual([401, 401, 401])
})

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'GET'])(
  '%s with a name in its body is an attempt',
  async (method) => {
    const guard = newGuard()
    const app = express().use(...parsers(), guard, passwords([]))
    const sent = { ...json({ username: 'bob' }), method }
    sent.headers = { ...sent.headers, 'content-length': String(Buffer.byteLength(String(sent.body))) }
    expect(await statuses(await serve(app), times(LIMIT + 1, sent))).toEqual([...Array(LIMIT).fill(401), 429])
  },
)

test('a guard that is mounted twice charges an attempt once', async () => {
  const guard = newGuard()
  const app = express().use(...parsers(), guard)
  app.post('/login', guard, guard, passwords([]))
  const bob = json({ username: 'bob' })
  expect(await statuses(await serve(app), times(LIMIT + 1, bob))).toEqual([...Array(LIMIT).fill(401), 429])
})

test('a guard that is mounted twice refunds a success once', async () => {
  const guard = newGuard()
  const app = express().use(...parsers(), guard)
  app.post('/login', guard, passwords([]))
  const served = await serve(app)
  await statuses(served, times(3, json({ username: 'bob' })))
  await statuses(served, times(2, json({ username: 'mallory', password: RIGHT })))
  const { parts } = await guard.limiter.peek({ body: {}, ip: '127.0.0.1' } as unknown as Request)
  expect(parts.find(({ name }) => name === 'address')?.remaining).toBe(50 - 3)
})

test('HTTP/1.0 is limited like any other', async () => {
  const { served, reached } = await startLogin()
  const head =
    'POST /login HTTP/1.0\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 12\r\n\r\n'
  const lines: string[] = []
  for (let i = 0; i < LIMIT + 2; i++) {
    const [line = ''] = (await sendRaw(served, `${head}username=bob`)).split('\r\n', 1)
    lines.push(line.replace(/^HTTP\/1\.[01] /, ''))
  }
  const refused = Array(2).fill('429 Too Many Requests')
  expect(lines).toEqual([...Array(LIMIT).fill('401 Unauthorized'), ...refused])
  expect(reached).toHaveLength(LIMIT)
})

/** Any parser that sets `body` will do. */
const ownParser: Handler = async (req, _res, next) => {
  const body = await text(req)
  Object.assign(req, { body: Object.fromEntries(new URLSearchParams(body)) })
  next()
}

test.each(FRAMEWORKS)(
  'on $name wrong guesses are limited, and a success clears them',
  async ({ app }: Framework) => {
    const guard = newGuard({ path: '/login' })
    const reached: Body[] = []
    const served = await serve(app(...([ownParser, guard, passwords(reached)] as unknown as Handler[])))
    const wrong = form('username=bob&password=wrong')
    const right = form(`username=bob&password=${RIGHT}`)
    expect(await statuses(served, times(LIMIT - 1, wrong))).toEqual(Array(LIMIT - 1).fill(401))
    expect((await send(served, right)).status).toBe(200)
    expect(await statuses(served, times(LIMIT + 1, wrong))).toEqual([...Array(LIMIT).fill(401), 429])
    expect((await send(served, right)).status).toBe(429)
    expect((await send(served, { ...right, from: '127.7.0.3' })).status).toBe(200)
    expect((await send(served, { method: 'GET', path: '/login' })).status).toBe(401)
    expect(reached).toHaveLength(LIMIT - 1 + 1 + LIMIT + 1 + 1)
  },
)
