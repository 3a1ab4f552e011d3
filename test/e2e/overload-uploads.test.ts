import http, { type IncomingMessage } from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import type { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import fastify from 'fastify'
import { overloadGuard as onFastify } from 'headgate/fastify'
import { overloadGuard } from 'headgate/http'
import { ProcessGuard } from '../../src/overload/process-guard.js'
import { FRAMEWORKS, type Handler, NODE_HTTP } from '../support/frameworks.js'
import { closeServers, closeWithServers } from '../support/http.js'
import { atMost, watch } from '../support/overload.js'
import { HTTP1, HTTP2 } from '../support/protocols.js'
import { until } from '../support/servers/wait.js'
import { stopClock } from '../support/shifted-clock.js'

afterEach(closeServers)
afterEach(() => void jest.restoreAllMocks())

/** Sends a request of `POST` and a first piece of its body, of 9 bytes. Returns what sends the rest. */
type Upload = (server: unknown, headers?: http.OutgoingHttpHeaders) => Writable

const portOf = (server: unknown) => ((server as Server).address() as AddressInfo).port

const overHttp1: Upload = (server, headers = { 'content-length': 9 }) => {
  const to = { host: '127.0.0.1', port: portOf(server), method: 'POST', path: '/upload', agent: false }
  const req = http.request({ ...to, headers }).on('error', () => undefined)
  req.write('a')
  return req
}

const overHttp2: Upload = (server) => {
  const session = http2.connect(`https://127.0.0.1:${portOf(server)}`, { rejectUnauthorized: false })
  session.on('error', () => undefined)
  closeWithServers(async () => session.destroy())
  const stream = session.request({ ':method': 'POST', ':path': '/upload' }).on('error', () => undefined)
  stream.write('a')
  return stream
}

/** Reads the body of an upload before it responds; all other requests get a greeting. */
const readBody: Handler = (req, res) => {
  if (req.url !== '/upload') return res.end('hello')
  text(req).then(
    (body) => res.end(body),
    () => res.destroy(),
  )
}

const readsBody = (requests: readonly IncomingMessage[], count: number) =>
  until('bodies are read', () => requests.filter((req) => req.readableFlowing !== null).length === count, {
    everyMs: 1,
  })

const SERVERS = [
  ...FRAMEWORKS.map(({ name, app }) => [`${name} over HTTP/1.1`, app, HTTP1, overHttp1] as const),
  ['node:http over HTTP/2', NODE_HTTP.app, HTTP2, overHttp2] as const,
]

/** Notes the requests that arrive. */
function noted() {
  const requests: IncomingMessage[] = []
  const note: Handler = (req, _res, next) => {
    if (req.url === '/upload') requests.push(req)
    next()
  }
  return { requests, note }
}

describe.each(SERVERS)('%s', (_name, app, protocol, upload) => {
  test('an upload has its place for a second, and goes on without one', async () => {
    const forward = stopClock()
    const guard = overloadGuard(atMost(3))
    const { requests, note } = noted()
    const endpoint = await protocol.serve(app(note, guard, readBody))
    const uploads = [upload(endpoint.server), upload(endpoint.server), upload(endpoint.server)]
    await readsBody(requests, 3)
    forward(999)
    expect((await endpoint.send()).status).toBe(503)
    forward(1)
    expect((await endpoint.send()).text).toBe('hello')
    expect(guard.status().running).toBe(0)
    const answered = uploads.map((each) => new Promise((resolve) => void each.once('response', resolve)))
    for (const each of uploads) each.end('bcdefghi')
    await Promise.all(answered)
    expect(guard.status().running).toBe(0)
  })

  test('a handler that does not wait for the body keeps its place', async () => {
    const forward = stopClock()
    const guard = overloadGuard(atMost(1))
    const { requests, note } = noted()
    const held: (() => void)[] = []
    const endpoint = await protocol.serve(app(note, guard, (_req, res) => void held.push(() => res.end())))
    upload(endpoint.server)
    await watch(guard).runs(1)
    forward(1000)
    expect((await endpoint.send()).status).toBe(503)
    text(requests[0] as IncomingMessage).catch(() => undefined)
    await until('the handler waits', () => requests[0]?.readableLength === 0, { everyMs: 1 })
    forward(1000)
    await watch(guard).runs(0)
    held[0]?.()
  })

  test('a request whose body has arrived keeps its place until the response', async () => {
    const forward = stopClock()
    const guard = overloadGuard(atMost(1))
    const { requests, note } = noted()
    const held: (() => void)[] = []
    const hold: Handler = (req, res) => {
      text(req).then(
        () => held.push(() => res.end('late')),
        () => undefined,
      )
    }
    const endpoint = await protocol.serve(app(note, guard, hold))
    upload(endpoint.server).end('bcdefghi')
    await until('the body is read', () => held.length === 1, { everyMs: 1 })
    forward(60_000)
    expect((await endpoint.send()).status).toBe(503)
    expect([guard.status().running, requests.length]).toEqual([1, 1])
    held[0]?.()
    await watch(guard).runs(0)
  })
})

test('how long a body takes to arrive is no latency of the server', async () => {
  const forward = stopClock()
  const ended = jest.spyOn(ProcessGuard.prototype, 'end')
  const guard = overloadGuard()
  const { requests, note } = noted()
  const endpoint = await HTTP1.serve(NODE_HTTP.app(note, guard, readBody))
  const uploads = [overHttp1(endpoint.server), overHttp1(endpoint.server)]
  await readsBody(requests, 2)
  uploads[0]?.end('bcdefghi')
  await watch(guard).runs(1)
  forward(20)
  expect((await endpoint.send()).text).toBe('hello')
  uploads[1]?.end('bcdefghi')
  await watch(guard).runs(0)
  const classes = ended.mock.calls.map(([, routeClass, isSample]) => [routeClass, isSample])
  expect(classes).toEqual([
    ['POST /upload', true],
    ['GET /', true],
    ['POST /upload', false],
  ])
})

test('a body of unknown length is one, and a length of 0 is none', async () => {
  const forward = stopClock()
  const guard = overloadGuard(atMost(2))
  const { requests, note } = noted()
  const endpoint = await HTTP1.serve(NODE_HTTP.app(note, guard, readBody))
  overHttp1(endpoint.server, { 'transfer-encoding': 'chunked' })
  await readsBody(requests, 1)
  forward(1000)
  expect(guard.status().running).toBe(0)
  expect((await endpoint.send({ method: 'POST', headers: { 'content-length': 0 } })).text).toBe('hello')
})

test('Fastify gives the places of slow uploads back', async () => {
  const forward = stopClock()
  const guard = onFastify(atMost(1))
  const app = fastify()
  const requests: IncomingMessage[] = []
  app.addHook('onRequest', guard)
  app.addHook('onRequest', async ({ raw }) => void requests.push(raw))
  app.post('/upload', async () => 'done')
  closeWithServers(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  overHttp1(app.server, { 'content-length': 9, 'content-type': 'application/json' })
  await readsBody(requests, 1)
  expect(guard.status().running).toBe(1)
  forward(1000)
  expect(guard.status().running).toBe(0)
})

test('the time of slow uploads is not compared: the limit does not fall', async () => {
  const forward = stopClock()
  const guard = overloadGuard({ maxWait: 0, routeClass: () => 'all' })
  const { requests, note } = noted()
  const takeTime: Handler = (req, _res, next) => {
    if (req.url !== '/upload') forward(10)
    next()
  }
  const endpoint = await HTTP1.serve(NODE_HTTP.app(note, guard, takeTime, readBody))
  for (let i = 0; i < 100; i++) await endpoint.send()
  const { limit } = guard.status()
  for (let count = 16; count <= 80; count += 16) {
    for (let i = 0; i < 16; i++) overHttp1(endpoint.server)
    await readsBody(requests, count)
    forward(1000)
    await endpoint.send()
  }
  const after = guard.status()
  expect([after.running, after.limit >= limit]).toEqual([0, true])
})
