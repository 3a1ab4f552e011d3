import express, { type Request, type Response } from 'express'
import { ban, consecutive, type LoginGuardOptions, loginGuard, memoryStore, slidingWindow } from 'headgate'
import { closeServers, type Served, sendRaw, serve } from '../../support/http.js'
import { NOON_MS, PASSWORDS } from './guarded-login.js'

afterEach(closeServers)

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const KNOWN = 'ada'
const UNKNOWN = 'nobody'
const WRONG = 'wrong'
const IN_A_ROW = 6
const PAIR_LIMIT = 3
const ACCOUNT_LIMIT = 4
const ADDRESS_LIMIT = 8

type Options = Partial<LoginGuardOptions<Request, Response>>

/** An answer as it came over the wire, but for the time of day. */
interface Wire {
  readonly status: string
  /** In their order, as they are written. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

interface Login {
  advance(ms: number): void
  attempt(username: string, password: string, ip: string, accept?: string): Promise<Wire>
}

async function startLogin(options: Options = {}): Promise<Login> {
  let nowMs = NOON_MS
  const guard = loginGuard({
    field: 'username',
    store: memoryStore({ clock: () => nowMs }),
    consecutive: IN_A_ROW,
    name: 'login',
    deviceCookie: { secret: 'known devices are signed with this' },
    limits: {
      address: ban(slidingWindow({ limit: ADDRESS_LIMIT, window: '1h' }), {
        after: 2,
        within: '1h',
        for: '6h',
      }),
      account: slidingWindow({ limit: ACCOUNT_LIMIT, window: '30m' }),
      accountAndAddress: slidingWindow({ limit: PAIR_LIMIT, window: '15m' }),
    },
    ...options,
  })
  const app = express().set('trust proxy', 1)
  app.post('/login', express.urlencoded(), guard, (req, res) => {
    const isRight = PASSWORDS[req.body.username] === req.body.password
    res.status(isRight ? 200 : 401).send(isRight ? 'Welcome' : 'Wrong name or password')
  })
  const served: Served = await serve(app)
  return {
    advance(ms) {
      nowMs += ms
    },
    async attempt(username, password, ip, accept = 'text/html') {
      const body = new URLSearchParams({ username, password }).toString()
      const head = [
        'POST /login HTTP/1.1',
        'Host: login.example',
        'Connection: close',
        'Content-Type: application/x-www-form-urlencoded',
        `Content-Length: ${body.length}`,
        `X-Forwarded-For: ${ip}`,
        `Accept: ${accept}`,
      ]
      return parseWire(await sendRaw(served, `${head.join('\r\n')}\r\n\r\n${body}`))
    },
  }
}

function parseWire(answer: string): Wire {
  const end = answer.indexOf('\r\n\r\n')
  const [status = '', ...lines] = answer.slice(0, end).split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(': ')
    const name = line.slice(0, colon)
    return [name, name === 'Date' ? '' : line.slice(colon + 2)]
  })
  return { status, headers, body: answer.slice(end + 4) }
}

const statusOf = ({ status }: Wire) => Number(status.split(' ')[1])
const headerOf = ({ headers }: Wire, name: string) => headers.find(([own]) => own === name)?.[1]
const namesOf = ({ headers }: Wire) => headers.map(([name]) => name)

let addresses = 0
const newAddress = () => `203.0.113.${++addresses}`
beforeEach(() => {
  addresses = 0
})

/**
 * Brings an account, or an address, to where an attempt is refused, and gives what refused attempts there
 * are.
 */
type Situation = (login: Login, username: string) => Promise<readonly [username: string, ip: string]>

async function fail(login: Login, username: string, ip: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) expect(statusOf(await login.attempt(username, WRONG, ip))).toBe(401)
}

const fromOneAddress: Situation = async (login, username) => {
  const ip = newAddress()
  await fail(login, username, ip, PAIR_LIMIT)
  return [username, ip]
}

const fromManyAddresses: Situation = async (login, username) => {
  for (let i = 0; i < ACCOUNT_LIMIT; i++) await fail(login, username, newAddress(), 1)
  return [username, newAddress()]
}

/** Slowly, so that no other limit refuses. */
const locked: Situation = async (login, username) => {
  for (let i = 0; i < IN_A_ROW; i++) {
    await fail(login, username, newAddress(), 1)
    login.advance(HOUR_MS)
  }
  return [username, newAddress()]
}

const bannedAddress: Situation = async (login, username) => {
  const ip = newAddress()
  for (let i = 0; i < ADDRESS_LIMIT; i++) await fail(login, `somebody-${i}`, ip, 1)
  for (let i = 0; i < 2; i++) expect(statusOf(await login.attempt(`other-${i}`, WRONG, ip))).not.toBe(401)
  return [username, ip]
}

const SITUATIONS: readonly (readonly [string, Situation])[] = [
  ['guessed at from one address', fromOneAddress],
  ['guessed at from many addresses', fromManyAddresses],
  ['locked', locked],
  ['asked for from a banned address', bannedAddress],
]

const CLIENTS = [
  ['a browser', 'text/html,application/xhtml+xml,*/*;q=0.8'],
  ['a JSON client', 'application/json'],
] as const

/**
 * The answers to refused attempts, by what they were: each situation with each name and a wrong and the
 * right password.
 */
async function refusals(options: Options, accept: string): Promise<[string, Wire][]> {
  const found: [string, Wire][] = []
  for (const [what, bring] of SITUATIONS) {
    for (const username of [KNOWN, UNKNOWN]) {
      for (const password of [WRONG, PASSWORDS[KNOWN] as string]) {
        addresses = 0
        const login = await startLogin(options)
        const [name, ip] = await bring(login, username)
        const wire = await login.attempt(name, password, ip, accept)
        expect(statusOf(wire)).toBe(options.statusCode ?? 429)
        found.push([`${username}, ${what}, ${password}`, wire])
      }
    }
  }
  return found
}

function expectAlike(answers: readonly (readonly [string, Wire])[]): Wire {
  const [, first] = answers[0] as [string, Wire]
  expect(answers.length).toBeGreaterThan(1)
  expect(answers.map(([what, wire]) => [what, wire])).toEqual(answers.map(([what]) => [what, first]))
  return first
}

/** Checks that nothing shows which limit it was, or how much is left of it. */
function expectNothingRevealed({ headers, body }: Wire): void {
  const shown = JSON.stringify([headers, body])
  expect(shown).not.toMatch(
    /ratelimit|x-rate|remaining|violated|polic|account|address|consecutive|lock|ban|login/i,
  )
  const figures = [IN_A_ROW, PAIR_LIMIT, ACCOUNT_LIMIT, ADDRESS_LIMIT].map(String)
  for (const [name, value] of headers) {
    if (name === 'Content-Length' || name === 'Retry-After') continue
    for (const number of value.match(/\d+/g) ?? [])
      if (name !== 'Content-Type') expect(figures).not.toContain(number)
  }
  for (const number of body.match(/\d+/g) ?? []) expect(figures).not.toContain(number)
}

const TEXT_HEADERS = ['X-Powered-By', 'Cache-Control', 'Content-Type', 'Content-Length', 'Date', 'Connection']
const WITH_RETRY = TEXT_HEADERS.toSpliced(2, 0, 'Retry-After')

describe.each(CLIENTS)('to %s', (_who, accept) => {
  const isJson = accept === 'application/json'

  test('all refusals are equal, byte for byte', async () => {
    const wire = expectAlike(await refusals({}, accept))
    expect(wire.status).toBe('HTTP/1.1 429 Too Many Requests')
    expect(namesOf(wire)).toEqual(WITH_RETRY)
    expect(headerOf(wire, 'Retry-After')).toBe('1800') // the window of the account's limit, and no more than that is known
    expect(headerOf(wire, 'Cache-Control')).toBe('no-store')
    expectNothingRevealed(wire)
    if (!isJson) expect(wire.body).toBe('Too many requests. Try again in 1800 seconds.\n')
    else {
      expect(JSON.parse(wire.body)).toEqual({
        type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
        title: 'Too many requests',
        status: 429,
        detail: 'Try again in 1800 seconds.',
      })
    }
  })

  test('with an exact time of onDenied only that differs, and not between known and unknown accounts', async () => {
    const onDenied: Options['onDenied'] = (_req, res, _next, { retryAfterMs }) => {
      if (Number.isFinite(retryAfterMs)) res.set('Retry-After', String(Math.ceil(retryAfterMs / 1000)))
      else res.removeHeader('Retry-After')
      res.type('text').set('Content-Length', '9').end('Slow down')
    }
    const all = await refusals({ onDenied }, accept)
    for (const [what] of SITUATIONS) {
      const wire = expectAlike(all.filter(([own]) => own.includes(`, ${what}, `)))
      expectNothingRevealed(wire)
      expect(namesOf(wire)).toEqual(what === 'locked' ? TEXT_HEADERS : WITH_RETRY)
    }
    const waits = SITUATIONS.map(([what]) =>
      headerOf((all.find(([own]) => own.includes(`, ${what}, `)) as [string, Wire])[1], 'Retry-After'),
    )
    expect(new Set(waits).size).toBe(SITUATIONS.length) // so an exact time does show which limit it is
  })

  test('with statusCode and message all refusals are equal', async () => {
    const options: Options = { statusCode: 403, message: isJson ? { wrong: true } : 'Wrong name or password' }
    const wire = expectAlike(await refusals(options, accept))
    expect(wire.status).toBe('HTTP/1.1 403 Forbidden')
    expect(namesOf(wire)).toEqual(WITH_RETRY)
    expect(wire.body).toBe(isJson ? '{"wrong":true}' : 'Wrong name or password')
    expectNothingRevealed(wire)
  })

  test('with onDenied all refusals have equal headers', async () => {
    const onDenied: Options['onDenied'] = (_req, res) => res.status(429).send('Slow down')
    const wire = expectAlike(await refusals({ onDenied }, accept))
    expect(namesOf(wire).filter((name) => name !== 'ETag')).toEqual(WITH_RETRY)
    expect(wire.body).toBe('Slow down')
  })

  test('the answers to attempts that reach the handler show nothing of the guard', async () => {
    const login = await startLogin()
    const ip = newAddress()
    const known: Wire[] = []
    for (let i = 0; i < PAIR_LIMIT; i++) known.push(await login.attempt(KNOWN, WRONG, ip, accept))
    const unknown: Wire[] = []
    for (let i = 0; i < PAIR_LIMIT; i++) unknown.push(await login.attempt(UNKNOWN, WRONG, ip, accept))
    expectAlike([...known, ...unknown].map((wire, i) => [`attempt ${i}`, wire] as const))
    const plain = ['X-Powered-By', 'Content-Type', 'Content-Length', 'ETag', 'Date', 'Connection']
    expect(namesOf(known[0] as Wire)).toEqual(plain)
    const welcome = await login.attempt(KNOWN, PASSWORDS[KNOWN] as string, newAddress(), accept)
    expect(statusOf(welcome)).toBe(200)
    expect(namesOf(welcome).filter((name) => name.toLowerCase() !== 'set-cookie')).toEqual(plain)
    expect(namesOf(welcome).filter((name) => name.toLowerCase() === 'set-cookie')).toHaveLength(1)
  })
})

test('refusals stay equal while time passes and guesses go on', async () => {
  const login = await startLogin()
  const [name, ip] = await fromOneAddress(login, KNOWN)
  const answers: [string, Wire][] = []
  for (let i = 0; i < 12; i++) {
    answers.push([`after ${i} minutes`, await login.attempt(name, WRONG, ip)])
    login.advance(MINUTE_MS)
  }
  expectAlike(answers)
})

test('a malformed field is refused equally, whatever the state of the address', async () => {
  const login = await startLogin()
  const malformed = ['before', await login.attempt('a\0b', WRONG, newAddress())] as const
  const [, ip] = await bannedAddress(login, KNOWN)
  const wire = expectAlike([malformed, ['banned', await login.attempt('a\0b', WRONG, ip)]])
  expect(statusOf(wire)).toBe(400)
  expect(wire.body).toBe('Bad request.\n')
})

test("Retry-After is an hour if the account's limit has no window", async () => {
  const limits = {
    account: consecutive({ limit: 20 }),
    accountAndAddress: slidingWindow({ limit: 3, window: '15m' }),
  }
  const login = await startLogin({ limits })
  const [name, ip] = await fromOneAddress(login, KNOWN)
  expect(headerOf(await login.attempt(name, WRONG, ip), 'Retry-After')).toBe('3600')
})
