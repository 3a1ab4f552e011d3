import express from 'express'
import express4 from 'express4'
import fc from 'fast-check'
import {
  ban,
  byIp,
  byUser,
  createLimiter,
  fixedWindow,
  type Limiter,
  memoryStore,
  rateLimit,
  type Store,
  slidingWindow,
} from 'headgate'
import { type Dashboard, dashboard } from 'headgate/dashboard'
import { customStore } from 'headgate/store'
import type { Found } from '../../src/dashboard/actions/lookup.js'
import { closeServers, type Served, send, sendRaw, serve, statuses, times } from '../support/http.js'
import { hostile } from './client-strings/hostile.js'
import { ON_EXPRESS, ON_NODE_HTTP, post, SECURITY_HEADERS } from './dashboard-mounts.js'

const HOUR_MS = 3_600_000
const policy = fixedWindow({ limit: 3, window: '1h' })

let page: Dashboard | undefined
afterEach(async () => {
  page?.close()
  await closeServers()
})

/** Serves limiters, and their page at /. */
function serveFor(...limiters: readonly Limiter<never>[]): Promise<Served> {
  page = dashboard({ limiters, authorize: () => true })
  return serve(ON_NODE_HTTP.serve(page))
}

const limiterBy = <S>(name: string, key: (subject: S) => unknown, own: object = {}) =>
  createLimiter<S>({ name, policy, key: key as (subject: S) => string, store: memoryStore(), ...own })

async function lookup(served: Served, identity: string): Promise<Found[]> {
  const { status, text } = await post(served, '/lookup', { identity })
  expect(status).toBe(200)
  return (JSON.parse(text) as { found: Found[] }).found
}

const AUTHOR = { by: 'ines', reason: 'ticket 7' }

const release = (served: Served, identity: string, own: object = {}) =>
  post(served, '/release', { targets: [{ identity }], limiter: 'api', ...AUTHOR, ...own })

const block = (served: Served, identity: string, own: object = {}) => {
  const body = { targets: [{ identity }], effect: 'block', limiter: 'api', durationMs: 60_000 }
  return post(served, '/override', { ...body, ...AUTHOR, ...own })
}

const remainingOf = (found: readonly Found[]) =>
  found.map(({ standings }) => standings.map(({ remaining }) => remaining))

describe('lookup', () => {
  test.each([
    ['an IPv4 address', { ip: '203.0.113.7' }, '203.0.113.7', '203.0.113.7'],
    ['an IPv4 address in IPv6', { ip: '::ffff:203.0.113.7' }, '::FFFF:203.0.113.7', '203.0.113.7'],
    ['another spelling of it', { ip: '203.0.113.7' }, '::ffff:cb00:7107', '203.0.113.7'],
    ['an IPv6 address', { ip: '2001:db8:7::1' }, '2001:DB8:7:0:0::1', '2001:db8:7::/56'],
    ['another address of the network', { ip: '2001:db8:7::1' }, ' 2001:db8:7:9::2 ', '2001:db8:7::/56'],
    ['an identity as it is stored', { ip: '2001:db8:7::1' }, '2001:db8:7::/56', '2001:db8:7::/56'],
  ])('finds %s', async (_, subject, typed, identity) => {
    const api = limiterBy<object>('api', byIp())
    await api.charge(subject)
    const [found] = await lookup(await serveFor(api, limiterBy('other', byIp())), typed)
    expect(found).toMatchObject({
      limiter: 'api',
      longestBlockMs: 0,
      standings: [{ limitName: 'api', identity }],
    })
    expect(found?.standings).toMatchObject([{ limit: 3, remaining: 2, bannedForMs: 0 }])
  })

  test('finds a user, in those limiters that know it', async () => {
    const users = limiterBy<object>('users', byUser())
    await users.charge({ user: { id: 42 } })
    const served = await serveFor(limiterBy('api', byIp()), users)
    expect(remainingOf(await lookup(served, '42'))).toEqual([[], [2]])
    expect(remainingOf(await lookup(served, '43'))).toEqual([[], []])
  })

  test('finds a name in any case, and says for how long it can block', async () => {
    const login = limiterBy('login', (id: string) => id, {
      policy: ban(slidingWindow({ limit: 2, window: '1m' }), { after: 2, within: '1m', for: ['1m', '1h'] }),
    })
    await login.charge('ada')
    const served = await serveFor(login)
    expect(await lookup(served, 'Ada')).toMatchObject([
      { longestBlockMs: HOUR_MS, standings: [{ limit: 2 }] },
    ])
    expect(await lookup(served, 'bob')).toEqual([
      { limiter: 'login', longestBlockMs: HOUR_MS, standings: [] },
    ])
  })

  test.each([
    ['<script>', '<script>alert(1)</script>'],
    ['quotes', `"'\`\${1}`],
    ['marks from right to left', '\u202eada\u2066\u200f'],
    ['lines', 'ada\r\nX-Header: 1'],
    ['a name of Object.prototype', '__proto__'],
    ['blanks around it', '\t ada \n'],
    ['1024 characters', 'x'.repeat(1024)],
  ])('answers an identity with %s as any other', async (_, identity) => {
    const api = limiterBy('api', (id: string) => id)
    await api.charge(identity)
    const served = await serveFor(api)
    expect(remainingOf(await lookup(served, identity))).toEqual([[2]])
    await release(served, identity)
    expect(remainingOf(await lookup(served, identity))).toEqual([[]])
  })

  test.each([
    ['10 KB', 'x'.repeat(10_240)],
    ['NUL', 'ada\0'],
    ['half of a surrogate pair', '\ud800ada'],
    ['nothing', ''],
    ['nothing but blanks', ' \t\n'],
  ])('answers 400 to an identity that is or has %s, as release and block do', async (_, identity) => {
    const served = await serveFor(limiterBy('api', (id: string) => id))
    const { status, text } = await post(served, '/lookup', { identity })
    const must = 'must be 1 to 1024 characters, without NUL or unpaired surrogates'
    expect([status, JSON.parse(text)]).toEqual([400, { error: `identity ${must}.` }])
    const changes = await Promise.all([release(served, identity), block(served, identity)])
    for (const change of changes) {
      expect(change.status).toBe(400)
      expect(JSON.parse(change.text).error).toContain(`targets[0].identity ${must}`)
    }
  })

  test.each([[undefined], [null], [42], [['ada']], [{ toString: 'ada' }]])(
    'answers 400 to %j',
    async (identity) => {
      const served = await serveFor(limiterBy('api', (id: string) => id))
      expect(await post(served, '/lookup', { identity })).toMatchObject({
        status: 400,
        text: '{"error":"identity must be a string."}',
      })
    },
  )

  test('takes a body that a parser has read, and one that a parser of Express 4 has left', async () => {
    const api = limiterBy('api', (id: string) => id)
    await api.charge('ada')
    page = dashboard({ limiters: [api], authorize: () => true })
    const parsers = [express().use(express.json()), express4().use(express4.urlencoded({ extended: false }))]
    for (const app of parsers) {
      const { text } = await post(await serve(app.use(page)), '/lookup', { identity: 'ada' })
      expect(JSON.parse(text)).toMatchObject({ found: [{ standings: [{ remaining: 2 }] }] })
    }
  })
})

describe('release', () => {
  test('lets a client in again', async () => {
    const api = rateLimit({ name: 'api', limit: 3, window: '1h' })
    page = dashboard({ limiters: [api.limiter], authorize: () => true })
    const app = express().use('/admin/limits', page)
    const served = await serve(app.get('/', api, (_req, res) => res.send('hello')))
    const from = '127.0.0.9'
    expect(await statuses(served, times(4, { from }))).toEqual([200, 200, 200, 429])
    const { path } = ON_EXPRESS
    const body = { targets: [{ identity: from }], limiter: 'api', ...AUTHOR }
    expect(await post(served, `${path}/release`, body)).toMatchObject({ status: 200, text: '{"count":1}' })
    expect(await statuses(served, times(4, { from }))).toEqual([200, 200, 200, 429])
    expect(await statuses(served, times(1, { from: '127.0.0.8' }))).toEqual([200])
  })

  test('is of one limiter', async () => {
    const limiters = ['api', 'daily'].map((name) => limiterBy(name, (id: string) => id))
    for (const limiter of limiters) await limiter.charge('ada')
    const served = await serveFor(...limiters)
    await release(served, 'ada')
    expect(remainingOf(await lookup(served, 'ada'))).toEqual([[], [2]])
  })

  test.each([['none'], [undefined], ['__proto__'], [['api']], [0]])(
    'of the limiter %j is a 404',
    async (limiter) => {
      const served = await serveFor(limiterBy('api', (id: string) => id))
      expect(await release(served, 'ada', { limiter })).toMatchObject({
        status: 404,
        text: '{"error":"There is no such limiter."}',
      })
    },
  )
})

describe('block', () => {
  const escalating = ban(policy, { after: 3, within: '5m', for: ['1m', '1h'] })

  test('denies a client for the time, until it is released', async () => {
    const login = limiterBy('login', (id: string) => id, { policy: escalating })
    const served = await serveFor(login)
    const done = await block(served, 'ada', { limiter: 'login', durationMs: 600_000 })
    expect(done).toMatchObject({ status: 200, text: expect.stringContaining('"count":1') })
    const denied = await login.charge('ada')
    expect(denied).toMatchObject({ allowed: false })
    expect(denied.retryAfterMs).toBeGreaterThan(590_000)
    expect(denied.retryAfterMs).toBeLessThanOrEqual(600_000)
    expect(await login.charge('bob')).toMatchObject({ allowed: true })
    const [found] = await lookup(served, 'ada')
    const standing = found?.standings.find(({ bannedForMs }) => bannedForMs > 590_000)
    expect(standing).toMatchObject({ remaining: 0 })
    await release(served, 'ada', { limiter: 'login' })
    expect(await login.charge('ada')).toMatchObject({ allowed: true })
  })

  test.each([
    [
      'no limit is a ban',
      { policy },
      60_000,
      'blockFor requires a limit whose policy is a ban. Wrap the policy: ban(',
    ],
    ['it is longer than the longest ban', {}, 2 * HOUR_MS, "Add '2h' to the for option of that ban."],
    ['it has no length', {}, undefined, "Did you mean durationMs: '1m'?"],
    ['it is no length of time', {}, -1, "Did you mean durationMs: '1m'?"],
    ['the policy is not known yet', { policy: () => escalating }, 60_000, 'api has had no request yet.'],
  ])('is a 400 with the fix where %s', async (_, options, durationMs, message) => {
    const served = await serveFor(limiterBy('api', (id: string) => id, { policy: escalating, ...options }))
    const { status, text } = await block(served, 'ada', { durationMs })
    expect(status).toBe(400)
    expect((JSON.parse(text) as { error: string }).error).toContain(message)
  })
})

describe('a change', () => {
  const body = {
    ...{ identity: 'ada', targets: [{ identity: 'ada' }], limiter: 'api' },
    ...{ effect: 'block', durationMs: 60_000, ...AUTHOR },
  }
  const evil = 'https://evil.example'
  let served: Served

  beforeEach(async () => {
    const api = limiterBy('api', (id: string) => id)
    await api.charge('ada')
    served = await serveFor(api)
  })

  test.each(['/lookup', '/release', '/override'])('that another site sends to %s is a 403', async (path) => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', origin: `http://127.0.0.1:${served.port}` },
    ])
      expect(await post(served, path, body, { headers })).toMatchObject({ status: 403 })
    for (const origin of [evil, 'null', `http://127.0.0.1:${served.port + 1}`]) {
      const headers = { 'content-type': 'application/json', origin }
      const sent = { method: 'POST', path, headers, body: JSON.stringify(body) }
      expect(await send(served, sent)).toMatchObject({ status: 403 })
    }
    expect(remainingOf(await lookup(served, 'ada'))).toEqual([[2]])
  })

  test('may come from a client that is no browser, and from an old one on the page', async () => {
    for (const headers of [{}, { origin: `http://127.0.0.1:${served.port}` }]) {
      const sent = { method: 'POST', path: '/release', body: JSON.stringify(body) }
      const typed = { ...headers, 'content-type': 'application/json' }
      expect(await send(served, { ...sent, headers: typed })).toMatchObject({ status: 200 })
    }
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
    'that a form could send, as %j, is a 415',
    async (type) => {
      const { status, headers } = await post(served, '/release', body, { headers: { 'content-type': type } })
      expect(status).toBe(415)
      expect(headers).toMatchObject(SECURITY_HEADERS)
      expect(remainingOf(await lookup(served, 'ada'))).toEqual([[2]])
    },
  )

  test.each([300_000, 5_000_000])('of %d bytes is a 413, and the connection goes on', async (length) => {
    const request = (path: string, text: string, connection: string) =>
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: ${connection}\r\n` +
      `Content-Length: ${text.length}\r\n\r\n${text}`
    const large = JSON.stringify({ ...body, padding: 'x'.repeat(length) })
    const both = request('/release', large, 'keep-alive') + request('/lookup', JSON.stringify(body), 'close')
    const answers = await sendRaw(served, both)
    expect(answers).toMatch(/^HTTP\/1.1 413 (.|\r\n)*"The body is larger than 262144 bytes\."/)
    expect(answers).toMatch(/HTTP\/1.1 200 OK\r\n(.|\r\n)*"remaining":2/)
  })

  test('that is no JSON is a 400', async () => {
    expect(await post(served, '/release', body, { body: '{' })).toMatchObject({ status: 400 })
    expect(await post(served, '/release', [body])).toMatchObject({ status: 400 })
  })
})

describe('while the store is away', () => {
  const away = () => Promise.reject(new Error('connection lost'))

  test('a lookup says so, beside what others know; changes are a 503', async () => {
    const store: Store = customStore({ ...memoryStore(), name: 'remote', apply: away })
    const login = ban(policy, { after: 3, within: '5m', for: '1h' })
    const lost = limiterBy('lost', (id: string) => id, { store, policy: login })
    const api = limiterBy('api', (id: string) => id)
    await api.charge('ada')
    const served = await serveFor(lost, api)
    const found = await lookup(served, 'ada')
    expect(remainingOf(found)).toEqual([[], [2]])
    expect(found.map(({ problem }) => problem)).toEqual(['remote: connection lost', undefined])
    for (const change of [release, block])
      expect(await change(served, 'ada', { limiter: 'lost' })).toMatchObject({
        status: 503,
        text: '{"error":"remote: connection lost","isUnknown":true}',
      })
  })
})

describe('text that clients choose', () => {
  const values = fc.oneof(hostile, fc.jsonValue())
  /** Each run takes requests, which a busy machine serves slowly. */
  const runs = (numRuns: number) => ({ numRuns, interruptAfterTimeLimit: 5000 })

  test('is found and released as its limiter counted it, or rejected with 400', async () => {
    const api = limiterBy<string>('api', (id) => id)
    const served = await serveFor(api, limiterBy('other', byUser()))
    await fc.assert(
      fc.asyncProperty(values, async (identity) => {
        const canBeKey = typeof identity === 'string' && identity !== ''
        if (canBeKey) await api.charge(identity)
        const { status, text } = await post(served, '/lookup', { identity })
        const isTyped = canBeKey && identity.trim() !== '' // an operator may type blanks around it
        const isKey = isTyped && identity.length <= 1024 && !/\0/.test(identity) && identity.isWellFormed()
        expect(status).toBe(isKey ? 200 : 400)
        if (!isKey) return
        const { found } = JSON.parse(text) as { found: Found[] }
        expect(found[0]?.standings.length).toBeGreaterThan(0)
        expect((await release(served, identity)).status).toBe(200)
        expect((await api.peek(identity)).remaining).toBe(3)
      }),
      runs(60),
    )
  })

  test('never makes an action fail, whatever it stands for', async () => {
    const served = await serveFor(limiterBy<string>('api', (id) => id))
    await fc.assert(
      fc.asyncProperty(values, values, values, async (identity, limiter, durationMs) => {
        const body = { identity, targets: [{ identity }], limiter, effect: 'block', durationMs, ...AUTHOR }
        for (const path of ['/lookup', '/release', '/override']) {
          const { status } = await post(served, path, body)
          expect([200, 400, 404, 413]).toContain(status)
        }
      }),
      runs(40),
    )
  })
})
