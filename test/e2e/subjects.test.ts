import { once } from 'node:events'
import type http from 'node:http'
import type { IncomingMessage } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { Job } from 'bullmq'
import { attach } from 'engine.io'
import { attach as attach65 } from 'engine.io-6.5'
import { Socket as EngineClient } from 'engine.io-client'
import { byIp, createLimiter } from 'headgate'
import { Hono } from 'hono'
import Koa from 'koa'
import { Server as SocketServer } from 'socket.io'
import { io } from 'socket.io-client'
import { WebSocket, WebSocketServer } from 'ws'
import { closeServers, closeWithServers, send, serve } from '../support/http.js'
import { recordWarnings } from '../support/warnings.js'

const warnings = recordWarnings()
afterEach(closeServers)

const LOCAL = '127.0.0.1'
const trusting = byIp({ trustProxy: 'loopback' })
const FORWARDED = { 'X-Forwarded-For': '203.0.113.7' }

/** What a key reads from a subject, and from one that a trusted proxy forwarded. */
const readBoth = (subject: unknown) => [byIp()(subject), trusting(subject)]

/** Serves node:http, and resolves to what `read` got from a client that `connect` starts. */
async function subjectOf(
  listen: (server: http.Server, give: (subject: unknown) => void) => void,
  connect: (port: number) => unknown,
): Promise<unknown> {
  const { server, port } = await serve((_req, res) => res.end())
  const subject = new Promise((resolve) => listen(server, resolve))
  connect(port)
  return subject
}

const engineClient = (transport: 'polling' | 'websocket') => (port: number) => {
  const client = new EngineClient(`ws://${LOCAL}:${port}`, {
    transports: [transport],
    extraHeaders: FORWARDED,
  })
  closeWithServers(async () => void client.close())
}

function webSocketTo(port: number): void {
  const client = new WebSocket(`ws://${LOCAL}:${port}`, { headers: FORWARDED })
  client.on('error', () => undefined)
  closeWithServers(async () => client.terminate())
}

function onWebSocket(pick: (client: WebSocket, request: IncomingMessage) => unknown) {
  return (server: http.Server, give: (subject: unknown) => void) => {
    new WebSocketServer({ server }).on('connection', (client, request) => give(pick(client, request)))
  }
}

const CARRIERS: readonly (readonly [string, (client: WebSocket, request: IncomingMessage) => object])[] = [
  ['socket and request', (socket, request) => ({ socket, request })],
  ['socket and req', (socket, req) => ({ socket, req })],
  ['extra', (socket, request) => ({ connectionInitReceived: true, extra: { socket, request } })],
]

const SOCKETS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ...(['polling', 'websocket'] as const).flatMap((transport) => [
    [
      `a socket of Socket.IO over ${transport}`,
      () =>
        subjectOf(
          (server, give) => void new SocketServer(server).on('connection', give),
          (port) => {
            const client = io(`http://${LOCAL}:${port}`, { transports: [transport], extraHeaders: FORWARDED })
            closeWithServers(async () => void client.close())
          },
        ),
    ] as const,
    [
      `a socket of engine.io over ${transport}`,
      () =>
        subjectOf((server, give) => void attach(server, {}).on('connection', give), engineClient(transport)),
    ] as const,
    [
      `a socket of engine.io 6.5 over ${transport}`,
      () =>
        subjectOf(
          (server, give) => void attach65(server, {}).on('connection', give),
          engineClient(transport),
        ),
    ] as const,
  ]),
  [
    'the request of engine.io.use',
    () =>
      subjectOf(
        (server, give) =>
          void attach(server, {}).use((request: IncomingMessage, _res: unknown, next: () => void) => {
            give(request)
            next()
          }),
        engineClient('websocket'),
      ),
  ],
  ...CARRIERS.map(
    ([where, carry]) =>
      [
        `a context with a WebSocket and its request in ${where}`,
        () => subjectOf(onWebSocket(carry), webSocketTo),
      ] as const,
  ),
  [
    'a message with its socket of Socket.IO',
    () =>
      subjectOf(
        (server, give) =>
          void new SocketServer(server).on('connection', (socket) => give({ socket, data: {} })),
        (port) => {
          const client = io(`http://${LOCAL}:${port}`, { transports: ['websocket'], extraHeaders: FORWARDED })
          closeWithServers(async () => void client.close())
        },
      ),
  ],
  [
    'the upgrade request of ws',
    () =>
      subjectOf(
        onWebSocket((_client, request) => request),
        webSocketTo,
      ),
  ],
]

test.each(SOCKETS)('byIp reads the address from %s', async (_what, make) => {
  expect(readBoth(await make())).toEqual([LOCAL, '203.0.113.7'])
})

test('byIp reads the address from a WebSocket of ws, also once it is closed', async () => {
  const client = await subjectOf(
    onWebSocket((each) => each),
    webSocketTo,
  )
  expect(byIp()(client)).toBe(LOCAL)
  const closed = once(client as WebSocket, 'close')
  ;(client as WebSocket).terminate()
  await closed
  expect(byIp()(client)).toBe(LOCAL)
})

test('byIp reads the address from a message with its WebSocket of ws', async () => {
  const message = await subjectOf(
    onWebSocket((socket) => ({ socket, data: 'hello' })),
    webSocketTo,
  )
  expect(byIp()(message)).toBe(LOCAL)
})

test('byIp reads the address from a connection of node:net', async () => {
  const server = net.createServer()
  closeWithServers(async () => void server.close())
  server.listen(0, LOCAL)
  await once(server, 'listening')
  const client = net.connect((server.address() as AddressInfo).port, LOCAL)
  const [connection] = (await once(server, 'connection')) as [net.Socket]
  expect(byIp()(connection)).toBe(LOCAL)
  client.destroy()
  connection.destroy()
})

test('byIp reads the address from a context of Koa, and of Hono', async () => {
  const seen: unknown[] = []
  const koa = new Koa().use((ctx) => {
    seen.push(...readBoth(ctx))
    ctx.body = 'hello'
  })
  await send(await serve(koa.callback()), { headers: FORWARDED })
  const hono = new Hono().get('/', (c) => {
    seen.push(...readBoth(c))
    return c.text('hello')
  })
  const server = createAdaptorServer({ fetch: hono.fetch })
  await send(await serve((req, res) => void server.emit('request', req, res)), { headers: FORWARDED })
  expect(seen).toEqual([LOCAL, '203.0.113.7', LOCAL, '203.0.113.7'])
})

const chain = { 'X-Forwarded-For': '1.1.1.1, 203.0.113.7' }
const EVENTS: Readonly<Record<string, object>> = {
  'a REST API': { headers: chain, requestContext: { identity: { sourceIp: '203.0.113.7' } } },
  'a WebSocket API': { requestContext: { connectionId: 'a', identity: { sourceIp: '203.0.113.7' } } },
  'an HTTP API or a function URL': {
    version: '2.0',
    headers: { 'x-forwarded-for': '203.0.113.7' },
    requestContext: { http: { method: 'GET', sourceIp: '203.0.113.7' } },
  },
  'a load balancer': { headers: { 'x-forwarded-for': '1.1.1.1,203.0.113.7' }, requestContext: { elb: {} } },
  'a load balancer with lists of values': {
    multiValueHeaders: { 'X-Forwarded-For': ['1.1.1.1', '203.0.113.7'] },
    requestContext: { elb: {} },
  },
}

test.each(Object.entries(EVENTS))('byIp reads the address from an AWS Lambda event of %s', (_what, event) => {
  expect(byIp()(event)).toBe('203.0.113.7')
})

test('byIp reads the address that a proxy in front of Lambda reports', () => {
  const headers = { 'X-Forwarded-For': '203.0.113.7, 198.51.100.1', 'CF-Connecting-IP': '203.0.113.7' }
  const event = { headers, requestContext: { identity: { sourceIp: '198.51.100.1' } } }
  const key = byIp({ header: 'cf-connecting-ip', from: ['198.51.100.0/24'] })
  expect([key(event), byIp({ trustProxy: 2 })(event), byIp()(event)]).toEqual([
    '203.0.113.7',
    '203.0.113.7',
    '198.51.100.1',
  ])
})

test.each<[string, object, string]>([
  ['Deno', { remoteAddr: { hostname: '203.0.113.7', port: 1, transport: 'tcp' } }, '203.0.113.7'],
  ['Bun', { requestIP: () => ({ address: '203.0.113.7', family: 'IPv4', port: 1 }) }, '203.0.113.7'],
  ['Netlify', { context: { ip: '203.0.113.7' } }, '203.0.113.7'],
  ['AWS Lambda', { requestContext: { http: { sourceIp: '203.0.113.7' } } }, '203.0.113.7'],
])('byIp reads the address from a context of Hono on %s', async (_where, env, address) => {
  const app = new Hono().get('/', (c) => c.text(String(byIp()(c))))
  expect(await (await app.request('/', {}, env)).text()).toBe(address)
})

test('a request of Bun whose client has left is denied', async () => {
  const limiter = createLimiter({ limit: 1, window: '1h' })
  const app = new Hono().get('/', async (c) => c.json(await limiter.charge(c)))
  const response = await app.request('/', {}, { requestIP: () => null, port: 3000 })
  expect(await response.json()).toMatchObject({ allowed: false, source: 'fail-closed' })
})

test.each([
  ['tRPC', (req: object) => ({ req, res: {} })],
  ['a GraphQL server', (request: object) => ({ request, params: {} })],
  ['h3', (req: object) => ({ node: { req } })],
  ['hapi', (req: object) => ({ raw: { req }, info: {} })],
  [
    'AdonisJS',
    (request: object) => ({ request: { ip: () => '', headers: () => ({}), request }, response: {} }),
  ],
  ['AdonisJS, as its request', (request: object) => ({ ip: () => '', headers: () => ({}), request })],
  ['Mercurius', (request: object) => ({ app: {}, socket: { readyState: 1 }, request })],
])('byIp reads the address from the request in a context of %s', (_what, carry) => {
  expect(byIp()(carry({ headers: {}, socket: { remoteAddress: '203.0.113.7' } }))).toBe('203.0.113.7')
})

function cyclic(): object {
  const subject: { socket?: object } = {}
  return Object.assign(subject, { socket: subject })
}

const REFUSED: readonly (readonly [string, unknown])[] = [
  ['a job of BullMQ', Object.assign(Object.create(Job.prototype), { id: '1', data: { tenant: 'acme' } })],
  ['a Request', new Request('http://localhost/')],
  ['a Hono context without an address', { req: { raw: new Request('http://localhost/') }, env: {} }],
  ['a scheduled event', { source: 'aws.events', detail: {} }],
  ['a message of SQS', { Records: [{ messageId: '1', body: '{}' }] }],
  ['an object', { userId: 7 }],
  ['a job of a stream', { id: 1, stream: 'orders' }],
  ['an event of a stream', { stream: {}, body: 'x' }],
  ['a job without a socket', { id: 1, socket: null }],
  ['a message with the name of a socket', { socket: 'a' }],
  ['a message with a socket that hides its address', { socket: { readyState: 1 }, data: {} }],
  ['a socket within itself', cyclic()],
  ['an ip that is a function', { ip: () => '203.0.113.7' }],
  ['an array', ['203.0.113.7']],
  ['a string', '203.0.113.7'],
  ['a number', 7],
  ['nothing', undefined],
]

test.each(REFUSED)('byIp refuses %s, with the fix', (_what, subject) => {
  for (const key of [
    byIp(),
    byIp({ trustProxy: ['loopback'] }),
    byIp({ header: 'x-ip', from: ['10.0.0.1'] }),
  ]) {
    expect(() => key(subject)).toThrow(TypeError)
    expect(() => key(subject)).toThrow(/^byIp: subject must .*(set key, such as|byIp\(\{ trustProxy: 1 \}\))/)
  }
  expect(warnings()).toEqual([])
})

test('behind a number of proxies, byIp reads a Request, as Next.js has it', () => {
  const request = new Request('http://localhost/', { headers: { 'x-forwarded-for': '1.1.1.1, 203.0.113.7' } })
  expect(byIp({ trustProxy: 1 })(request)).toBe('203.0.113.7')
})

test.each([undefined, null, ''])('a subject with the ip %p is denied, and a warning says so', async (ip) => {
  const limiter = createLimiter({ limit: 1, window: '1h' })
  expect(await limiter.charge({ ip })).toMatchObject({ allowed: false, source: 'fail-closed', parts: [] })
  expect(warnings()).toEqual(['HEADGATE_EMPTY_IP'])
})

test.each([
  ['a Koa context whose socket is gone', { ip: '', socket: null, headers: {} }],
  ['a request that was reset', { ip: undefined, socket: { localAddress: '127.0.0.1' } }],
  ['a destroyed HTTP/2 request', { ip: undefined, socket: undefined, stream: { destroyed: true } }],
])('%s is denied without a warning', async (_what, subject) => {
  const limiter = createLimiter({ limit: 1, window: '1h' })
  expect(await limiter.charge(subject)).toMatchObject({ allowed: false, source: 'fail-closed', parts: [] })
  expect(warnings()).toEqual([])
})
