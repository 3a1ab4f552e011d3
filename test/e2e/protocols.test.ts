import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  byIp,
  consecutive,
  type LoginGuardOptions,
  loginGuard,
  memoryStore,
  type RateLimitOptions,
  rateLimit,
} from 'headgate'
import { brokenStore, promisingStore } from '../support/fault-stores.js'
import { FRAMEWORKS, type Handler, sayHello } from '../support/frameworks.js'
import { sendAndHangUp } from '../support/hang-up.js'
import { closeServers } from '../support/http.js'
import { nextTurn } from '../support/next-turn.js'
import { type Endpoint, PROTOCOLS } from '../support/protocols.js'
import { chargeStore } from '../support/store-calls.js'
import { storeOf } from '../support/store-of.js'

afterEach(closeServers)

const SERVED = PROTOCOLS.flatMap((protocol) => {
  const frameworks = FRAMEWORKS.filter(({ name }) => !name.startsWith('Express')) // which knows no HTTP/2
  return frameworks.map((framework) => [protocol.name, framework.name, protocol, framework] as const)
})

type Options = Partial<RateLimitOptions<IncomingMessage, ServerResponse>>
type GuardOptions = Partial<LoginGuardOptions<IncomingMessage, ServerResponse>>

describe.each(SERVED)('over %s on %s', (_protocol, _framework, protocol, { app }) => {
  async function serveLimited(options: Options, handler: Handler = sayHello) {
    const limiter = rateLimit({ limit: 2, window: '1m', store: memoryStore({ clock: () => 0 }), ...options })
    return { limiter, endpoint: await protocol.serve(app(limiter, handler)) }
  }

  test('requests within the limit pass, and one over it is answered 429', async () => {
    const { endpoint } = await serveLimited({ headers: 'both', resetFormat: 'delta-seconds' })
    expect(await endpoint.send()).toMatchObject({
      status: 200,
      text: 'hello',
      headers: { 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '30' },
    })
    await endpoint.send()
    const denied = await endpoint.send()
    expect(denied).toMatchObject({ status: 429, text: 'Too many requests. Try again in 30 seconds.\n' })
    expect(denied.headers).toMatchObject({
      'retry-after': '30',
      'cache-control': 'no-store',
      'content-type': 'text/plain; charset=utf-8',
      ratelimit: '"2-in-1min";r=0;t=30',
      'ratelimit-policy': '"2-in-1min";q=2;w=60',
    })
  })

  test('clients that take JSON get a problem document, and HEAD no body', async () => {
    const { endpoint } = await serveLimited({ cost: 3 })
    const { status, headers, text } = await endpoint.send({ headers: { accept: 'application/json' } })
    expect({ status, type: headers['content-type'] }).toEqual({
      status: 403,
      type: 'application/problem+json',
    })
    expect(JSON.parse(text)).toMatchObject({ status: 403, 'violated-policies': ['2-in-1min'] })
    expect(await endpoint.send({ method: 'HEAD' })).toMatchObject({ status: 403, text: '' })
  })

  test.each<[string, Options, number]>([
    ['block', { block: ['127.0.0.0/8'] }, 403],
    ['a store that fails', { store: brokenStore(), onStoreError: 'deny' }, 503],
    ['onDenied', { cost: 3, onDenied: (_req, res) => res.writeHead(420).end() }, 420],
    ['message', { cost: 3, message: { error: 'slow down' } }, 403],
  ])('a request refused by %s gets its status', async (_what, options, status) => {
    expect((await (await serveLimited(options)).endpoint.send()).status).toBe(status)
  })

  test('clients behind a trusted proxy have buckets of their own', async () => {
    const { endpoint } = await serveLimited({ key: byIp({ trustProxy: 'loopback' }) })
    const from = (address: string) => endpoint.send({ headers: { 'x-forwarded-for': address } })
    for (const status of [200, 200, 429]) expect((await from('203.0.113.7')).status).toBe(status)
    expect((await from('203.0.113.8')).status).toBe(200)
  })

  test.each(['failed', 'successful'] as const)(
    'with count: %p what was aborted stays charged',
    async (count) => {
      const reached = jest.fn() // and never answers
      const { endpoint } = await serveLimited({ limit: 3, count }, reached)
      for (let i = 0; i < 8; i++) {
        if (i < 3) await sendAndHangUp(endpoint)
        else expect((await endpoint.send()).status).toBe(429)
      }
      expect(reached).toHaveBeenCalledTimes(3)
    },
  )

  test('with count: "failed" what succeeded is refunded', async () => {
    const { limiter, endpoint } = await serveLimited({ count: 'failed' })
    for (let i = 0; i < 5; i++) expect((await endpoint.send()).status).toBe(200)
    await nextTurn()
    expect(await limiter.limiter.peek({ ip: '127.0.0.1' } as never)).toMatchObject({ remaining: 2 })
  })

  describe('a login guard', () => {
    const attempt = ({ send }: Endpoint, password: string, cookie?: string) =>
      send({ method: 'POST', headers: { 'x-password': password, ...(cookie && { cookie }) } })

    const login: Handler = (req, res) => {
      res.statusCode = req.headers['x-password'] === 'right' ? 200 : 401
      res.end()
    }

    async function serveGuarded(options: GuardOptions = {}, handler = login) {
      const guard = loginGuard({ account: () => 'ada', path: '/', store: memoryStore(), ...options })
      return { guard, endpoint: await protocol.serve(app(guard, handler)) }
    }

    test('refuses after five failures, and forgets them after a success', async () => {
      const { endpoint } = await serveGuarded()
      const passwords = ['1', '2', '3', '4', 'right', '1', '2', '3', '4', '5', 'right']
      const statuses: number[] = []
      for (const password of passwords) statuses.push((await attempt(endpoint, password)).status)
      expect(statuses).toEqual([401, 401, 401, 401, 200, 401, 401, 401, 401, 401, 429])
    })

    test('judges by the headers that are given to writeHead', async () => {
      const redirect: Handler = (_req, res) => res.writeHead(302, 'Found', { location: '/login' }).end()
      const { endpoint } = await serveGuarded({ failureRedirect: '/login' }, redirect)
      for (let i = 0; i < 5; i++) {
        const answer = await attempt(endpoint, 'right')
        expect(answer).toMatchObject({ status: 302, headers: { location: '/login' } })
      }
      expect((await attempt(endpoint, 'right')).status).toBe(429)
    })

    test('answers 400 where the field is missing', async () => {
      const { endpoint } = await serveGuarded({ account: undefined, field: 'username' } as never)
      expect((await attempt(endpoint, 'right')).status).toBe(400)
    })

    test('counts who hangs up as failed', async () => {
      const { endpoint } = await serveGuarded({}, () => undefined)
      for (let i = 0; i < 5; i++) await sendAndHangUp(endpoint, { method: 'POST' })
      expect((await attempt(endpoint, 'right')).status).toBe(429)
    })

    test('counts who hangs up while the store decides as failed, whatever the handler answers then', async () => {
      const store = promisingStore()
      let release: () => void = () => undefined
      const slow = storeOf({
        ...store,
        async charge(batch) {
          await new Promise<void>((resolve) => {
            release = resolve
          })
          return chargeStore(store, batch)
        },
      })
      const reached = jest.fn((_req: IncomingMessage, res: ServerResponse) => res.writeHead(200).end())
      const { endpoint } = await serveGuarded({ store: slow, timeout: 5000 }, reached as Handler)
      await sendAndHangUp(endpoint, { method: 'POST' })
      release()
      await nextTurn()
      expect(store.charges).toHaveLength(1)
      expect(reached).toHaveBeenCalledTimes(1)
      expect(store.refunds).toEqual([])
    })

    test('knows a browser again by its cookie', async () => {
      const deviceCookie = { secret: 'sixteen letters!' }
      const limits = { account: consecutive({ limit: 1 }) }
      const { endpoint } = await serveGuarded({ name: 'site', deviceCookie, limits })
      const [cookie = ''] = (await attempt(endpoint, 'right')).headers['set-cookie'] ?? []
      expect(cookie).toMatch(/^__Host-headgate-device-[\w-]{8}=/)
      expect((await attempt(endpoint, 'wrong')).status).toBe(401)
      expect((await attempt(endpoint, 'right')).status).toBe(429)
      expect((await attempt(endpoint, 'right', `a=b; ${cookie.split(';')[0]}; c=d`)).status).toBe(200)
    })
  })
})
