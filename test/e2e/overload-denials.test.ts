import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { attach } from 'engine.io'
import {
  type Decision,
  identitiesOf,
  type OverloadGuardOptions,
  overloadGuard,
  rateLimit,
} from 'headgate/http'
import { WebSocket, WebSocketServer } from 'ws'
import { EXPRESS_5, type Handler, NODE_HTTP, sayHello } from '../support/frameworks.js'
import { heldRequests } from '../support/held-requests.js'
import { closeServers, closeWithServers, send, serve } from '../support/http.js'
import { atMost, watch } from '../support/overload.js'
import { HTTP1 } from '../support/protocols.js'
import { upgrade } from '../support/upgrade.js'

afterEach(closeServers)

/** Starts a server whose places are all taken. */
async function full(options: OverloadGuardOptions, ...others: Handler[]) {
  const guard = overloadGuard({ ...atMost(1), ...options })
  const { handle, arrived, answerAll } = heldRequests()
  const endpoint = await HTTP1.serve(EXPRESS_5.app(guard as Handler, ...others, handle))
  const held = endpoint.send({ path: '/wait' })
  held.catch(() => undefined) // most tests end before it
  await arrived(1)
  const end = async () => {
    answerAll()
    expect((await held).status).toBe(200)
    await watch(guard).runs(0)
  }
  return { guard, endpoint, end, ...watch(guard) }
}

test('statusCode and message replace those of a denial', async () => {
  const { endpoint } = await full({ statusCode: 429, message: { error: 'busy' } })
  const { status, text, headers } = await endpoint.send()
  expect({ status, body: JSON.parse(text), cache: headers['cache-control'] }).toEqual({
    status: 429,
    body: { error: 'busy' },
    cache: 'no-store',
  })
})

test('onDenied responds with the status set, and next() lets the request pass', async () => {
  const decisions: Decision[] = []
  const { endpoint, guard } = await full({
    onDenied(req, res, next, decision) {
      decisions.push(decision)
      if (req.url === '/pass') next()
      else res.end(`busy ${res.statusCode} ${String(res.getHeader('Retry-After'))}`)
    },
  })
  const denied = await endpoint.send()
  expect([denied.status, denied.text]).toEqual([503, expect.stringMatching(/^busy 503 [1-9]$/)])
  const passed = await endpoint.send({ path: '/pass' })
  expect([passed.status, passed.headers['retry-after'], passed.text]).toEqual([200, undefined, 'hello'])
  expect(guard.status().running).toBe(1)
  expect(decisions).toMatchObject(
    Array.from({ length: 2 }, () => ({ allowed: false, source: 'overload', limitName: 'overload' })),
  )
})

test('skip and allow exempt requests, and block denies them with 403', async () => {
  const { endpoint } = await full({ skip: (req) => req.url === '/health', block: ['127.0.0.3'] })
  const statuses = [
    (await endpoint.send({ path: '/health' })).status,
    (await endpoint.send()).status,
    (await endpoint.send({ from: '127.0.0.3' } as never)).status,
  ]
  expect(statuses).toEqual([200, 503, 403])
  const { endpoint: other } = await full({ allow: ['127.0.0.2'] })
  expect((await other.send({ from: '127.0.0.2' })).status).toBe(200)
})

test('report mode admits everything, delays nothing, and reports what it would have denied', async () => {
  const denied: [Decision, unknown][] = []
  const { endpoint, guard, end } = await full({ mode: 'report' })
  guard.limiter.events.on('denied', (decision, { url }) => denied.push([decision, url]))
  const { status, headers } = await endpoint.send({ path: '/a' })
  expect([status, headers['retry-after']]).toEqual([200, undefined])
  expect(denied).toEqual([
    [expect.objectContaining({ allowed: false, source: 'overload', limit: 1, remaining: 0 }), '/a'],
  ])
  guard.limiter.mode = 'enforce'
  expect((await endpoint.send()).status).toBe(503)
  await end()
})

test('in report mode a request does not wait, and its decision comes once it would have', async () => {
  const decisions: boolean[] = []
  const { endpoint, guard, waits, end } = await full({ mode: 'report', maxWait: '10s' })
  guard.limiter.events.on('decision', ({ allowed }) => decisions.push(allowed))
  expect((await endpoint.send()).text).toBe('hello')
  await waits(0)
  expect(decisions).toEqual([true])
  await end()
})

test('the limit of a limiter after the guard is at req.rateLimit', async () => {
  const seen: unknown[] = []
  const see: Handler = (req: IncomingMessage & { rateLimit?: Decision }, _res, next) => {
    seen.push(req.rateLimit?.limitName)
    next()
  }
  const app = EXPRESS_5.app(
    rateLimit({ name: 'api', limit: 9, window: '1m' }) as Handler,
    overloadGuard() as Handler,
    see,
    sayHello,
  )
  await (await HTTP1.serve(app)).send()
  expect(seen).toEqual(['api'])
})

describe('an option function', () => {
  const failing: readonly (readonly [string, OverloadGuardOptions, string])[] = [
    [
      'priority that returns another class',
      { priority: () => 'urgent' as never },
      "overloadGuard: the result of priority must be one of 'bulk', 'default', 'critical', got \"urgent\".",
    ],
    [
      'priority that returns a promise',
      { priority: () => Promise.resolve('bulk') } as never,
      'overloadGuard: priority must not return a promise. Look it up in middleware before the guard',
    ],
    [
      'tenant that returns a promise',
      { tenant: () => Promise.resolve('a') } as never,
      'overloadGuard: tenant must not return a promise.',
    ],
    [
      'tenant that returns a number',
      { tenant: () => 7 as never },
      'overloadGuard: the result of tenant must be a string of at most 256 characters, or undefined, got a number.',
    ],
    [
      'weight that returns nothing',
      { tenant: () => 'a', weight: () => undefined as never },
      'overloadGuard: the result of weight must be a number from 0.001 to 1000, got undefined. Return 1 for usual tenants.',
    ],
    [
      'weight that returns a promise',
      { tenant: () => 'a', weight: () => Promise.resolve(1) } as never,
      'overloadGuard: weight must not return a promise. Load the weights in advance, and read them from a Map.',
    ],
    ['priority that throws', { priority: () => fail('no priority') }, 'no priority'],
    ['tenant that throws', { tenant: () => fail('no tenant') }, 'no tenant'],
    [
      'weight that is too large',
      { tenant: () => 'a', weight: () => 1001 },
      'overloadGuard: the result of weight must be a number from 0.001 to 1000, got 1001. Return 1 for usual tenants.',
    ],
    [
      'weight that is too small',
      { tenant: () => 'a', weight: () => 0.0009 },
      'overloadGuard: the result of weight must be a number from 0.001 to 1000, got 0.0009. Return 1 for usual tenants.',
    ],
    ['weight that throws', { tenant: () => 'a', weight: () => fail('no weight') }, 'no weight'],
    ['skip that rejects', { skip: async () => fail('no skip') }, 'no skip'],
  ]

  test.each(failing)('%s: the error goes to next, and no place is taken', async (_what, options, says) => {
    const guard = overloadGuard({ ...atMost(1), ...options })
    const endpoint = await HTTP1.serve(NODE_HTTP.app(guard as Handler, sayHello))
    for (let i = 0; i < 3; i++) {
      const { status, text } = await endpoint.send()
      expect([status, text]).toEqual([500, expect.stringContaining(says)])
    }
    expect(guard.status()).toMatchObject({ running: 0, waiting: 0 })
  })
})

test('a key may be async, and one that throws fails the requests that need it', async () => {
  const key = async (req: IncomingMessage) =>
    req.url === '/throw-key' ? fail('no key') : String(req.headers['x-user'])
  const { endpoint, guard, end } = await full({ key })
  const identities: unknown[] = []
  guard.limiter.events.on('denied', (decision) => identities.push(...identitiesOf(decision)))
  expect((await endpoint.send({ headers: { 'x-user': 'ada' } })).status).toBe(503)
  expect(identities).toEqual([{ limit: 'overload', identity: expect.any(String) }])
  expect((await endpoint.send({ path: '/throw-key' })).status).toBe(500)
  await end()
})

function fail(message: string): never {
  throw new Error(message)
}

describe('upgrades to a WebSocket', () => {
  test('of engine.io have a place until they are open, and a denied one is an error', async () => {
    const guard = overloadGuard(atMost(1))
    const { server, port } = await serve((_req, res) => res.end())
    const engine = attach(server, {})
    const errors: unknown[] = []
    engine.use(((req: IncomingMessage, res: never, next: (error?: unknown) => void) =>
      guard(req, res, (error) => {
        if (error !== undefined) errors.push(error)
        next(error)
      })) as never)
    const path = '/engine.io/?EIO=4&transport=websocket'
    expect([await upgrade(port, path), await upgrade(port, path)]).toEqual(['open', 'open'])
    await watch(guard).runs(0)
    const held = await guard.limiter.charge({ socket: { remoteAddress: '192.0.2.1' } } as never)
    expect(await upgrade(port, path)).toBe(400)
    expect(errors).toMatchObject([{ status: 503, headers: { 'Cache-Control': 'no-store' } }])
    await guard.limiter.release(held)
    expect(await upgrade(port, path)).toBe('open')
  })

  test('without a response have a place until the first byte of their socket, or its end', async () => {
    const guard = overloadGuard(atMost(1))
    const { server, port } = await serve((_req, res) => res.end())
    const sockets = new WebSocketServer({ noServer: true })
    closeWithServers(async () => sockets.close())
    const passed: string[] = []
    const hung: Duplex[] = []
    server.on('upgrade', (req, socket, head) => {
      guard(req, {} as never, (error) => {
        if (error) return void socket.end('HTTP/1.1 503 Busy\r\nConnection: close\r\n\r\n')
        passed.push(String(req.url))
        if (req.url === '/hang') return void hung.push(socket)
        sockets.handleUpgrade(req, socket, head, (client) => client.send('hello'))
      })
    })
    expect([await upgrade(port, '/'), await upgrade(port, '/')]).toEqual(['open', 'open'])
    await watch(guard).runs(0)
    const hanging = new WebSocket(`ws://127.0.0.1:${port}/hang`)
    hanging.on('error', () => undefined)
    await watch(guard).runs(1)
    expect(await upgrade(port, '/')).toBe(503)
    hung[0]?.destroy() // nobody reads it, so Node.js does not see that the client leaves
    await watch(guard).runs(0)
    expect(passed).toEqual(['/', '/', '/hang'])
  })

  test('with neither a response nor a socket are a TypeError, and take no place', () => {
    const guard = overloadGuard(atMost(1))
    const next = jest.fn()
    guard({ headers: {} } as never, {} as never, (error) => next(error))
    expect(next.mock.calls).toEqual([
      [
        expect.objectContaining({
          message: expect.stringMatching(/^overloadGuard: a place needs a response/),
        }),
      ],
    ])
    expect(guard.status().running).toBe(0)
  })
})

test('requests over HTTP/1.0, and with Expect, have places', async () => {
  const guard = overloadGuard(atMost(1))
  const { port } = await serve(NODE_HTTP.app(guard as Handler, sayHello))
  const sent = { method: 'POST', headers: { expect: '100-continue' }, body: 'ab' }
  expect((await send({ port }, sent)).status).toBe(200)
  await watch(guard).runs(0)
})
