import type { RequestListener, ServerResponse } from 'node:http'
import net from 'node:net'
import { getRequestListener } from '@hono/node-server'
import fastify from 'fastify'
import { overloadGuard as onFastify } from 'headgate/fastify'
import { overloadGuard as onHono } from 'headgate/hono'
import { overloadGuard } from 'headgate/http'
import { overloadGuard as onKoa } from 'headgate/koa'
import { Hono } from 'hono'
import Koa from 'koa'
import { FRAMEWORKS, type Handler, NODE_HTTP } from '../support/frameworks.js'
import { heldRequests } from '../support/held-requests.js'
import { closeServers } from '../support/http.js'
import { atMost, watch } from '../support/overload.js'
import { HTTP1, PROTOCOLS } from '../support/protocols.js'
import { until } from '../support/servers/wait.js'
import { setClockForward } from '../support/shifted-clock.js'

afterEach(closeServers)
afterEach(() => void jest.restoreAllMocks())

/** Handlers may now go on for a minute after their clients have left. */
const runForAMinute = () => setClockForward(60_000)

const closed = (res: ServerResponse) => new Promise((resolve) => void res.once('close', resolve))

const ENDS: readonly [string, (res: ServerResponse) => unknown][] = [
  ['ends', (res) => res.end('nobody reads this')],
  ['begins', (res) => res.writeHead(200).write('nobody reads this')],
  ['sends the headers of', (res) => res.flushHeaders()],
  ['destroys', (res) => res.destroy()],
]

const PLACES = [
  ...FRAMEWORKS.map(({ name, app }) => [`${name} over HTTP/1.1`, app, HTTP1] as const),
  ...PROTOCOLS.slice(1).map(
    (protocol) => [`node:http over ${protocol.name}`, NODE_HTTP.app, protocol] as const,
  ),
]

describe.each(PLACES)('%s', (_name, app, protocol) => {
  test.each(ENDS)(
    'after its client has left, a handler has its place until it %s the response',
    async (_how, end) => {
      const guard = overloadGuard(atMost(2))
      const { handle, waiting, arrived } = heldRequests()
      const endpoint = await protocol.serve(app(guard, guard, handle))
      const hangUp = endpoint.start({ path: '/wait' })
      await arrived(1)
      const [, res] = waiting[0] as Parameters<Handler>
      const left = closed(res)
      runForAMinute()
      hangUp()
      await left
      expect(guard.status().running).toBe(1)
      expect((await endpoint.send()).text).toBe('hello')
      expect(guard.status().running).toBe(1)
      end(res)
      expect(guard.status().running).toBe(0)
      res.end()
      expect(guard.status().running).toBe(0)
    },
  )

  test('a response that its handler destroys before the client leaves gives the place back', async () => {
    const guard = overloadGuard(atMost(2))
    const { handle, waiting, arrived } = heldRequests()
    const endpoint = await protocol.serve(app(guard, handle))
    endpoint.start({ path: '/wait' })
    await arrived(1)
    const [, res] = waiting[0] as Parameters<Handler>
    runForAMinute()
    const left = closed(res)
    res.destroy()
    await left
    expect(guard.status().running).toBe(0)
  })
})

test('a herd of clients that give up gets no more handlers to run than there are places', async () => {
  const guard = overloadGuard(atMost(10))
  const { handle, waiting, arrived, answerAll } = heldRequests()
  const endpoint = await HTTP1.serve(NODE_HTTP.app(guard, handle))
  const hangUps = Array.from({ length: 100 }, () => endpoint.start({ path: '/wait' }))
  await arrived(10)
  const left = waiting.map(([, res]) => closed(res))
  runForAMinute()
  for (const hangUp of hangUps) hangUp()
  await Promise.all(left)
  const again = await Promise.all(Array.from({ length: 20 }, () => endpoint.send({ path: '/wait' })))
  expect(again.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 503))
  expect([waiting.length, guard.status().running]).toEqual([10, 10])
  answerAll()
  expect(guard.status().running).toBe(0)
})

test('a request whose client leaves while it waits gives the place of a guard before this one back', async () => {
  const outer = overloadGuard(atMost(2))
  const inner = overloadGuard({ ...atMost(1), maxWait: '10s' })
  const { handle, arrived, answerAll } = heldRequests()
  const endpoint = await HTTP1.serve(NODE_HTTP.app(outer, inner, handle))
  endpoint.start({ path: '/wait' })
  await arrived(1)
  const hangUp = endpoint.start()
  await watch(inner).waits(1)
  runForAMinute()
  hangUp()
  await watch(inner).waits(0)
  expect(outer.status().running).toBe(1)
  answerAll()
  expect([outer, inner].map((each) => each.status().running)).toEqual([0, 0])
})

test('a herd whose handlers never end gives all places back', async () => {
  const guard = overloadGuard(atMost(100))
  const { handle, arrived } = heldRequests()
  const endpoint = await HTTP1.serve(NODE_HTTP.app(guard, handle))
  const hangUps = Array.from({ length: 100 }, () => endpoint.start({ path: '/wait' }))
  await arrived(100)
  for (const hangUp of hangUps) hangUp()
  await watch(guard).runs(0)
})

/** Sends requests for `/wait`, one after the other, on a connection to a server. */
function pipeline(server: unknown, count: number): net.Socket {
  const { port } = (server as net.Server).address() as net.AddressInfo
  const socket = net.connect(port, '127.0.0.1').on('error', () => undefined)
  socket.write('GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count))
  return socket
}

test('on a kept connection, only the request has a place whose client has left', async () => {
  const guard = overloadGuard(atMost(2))
  const { handle, waiting, arrived, answerAll } = heldRequests()
  const { server } = await HTTP1.serve(NODE_HTTP.app(guard, handle))
  const socket = pipeline(server, 1)
  await arrived(1)
  answerAll()
  socket.write('GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await arrived(1)
  const [, res] = waiting[0] as Parameters<Handler>
  const left = closed(res)
  runForAMinute()
  socket.resetAndDestroy()
  await left
  expect(guard.status().running).toBe(1)
  answerAll()
  expect(guard.status().running).toBe(0)
})

test('pipelined requests have their places until each of their handlers has ended', async () => {
  const guard = overloadGuard(atMost(5))
  const { handle, waiting, arrived } = heldRequests()
  const { server } = await HTTP1.serve(NODE_HTTP.app(guard, handle))
  const socket = pipeline(server, 3)
  await arrived(3)
  const left = closed((waiting[0] as Parameters<Handler>)[1])
  runForAMinute()
  socket.resetAndDestroy()
  await left
  const running = waiting.map(([, res]) => {
    const before = guard.status().running
    res.end()
    return before
  })
  expect([...running, guard.status().running]).toEqual([3, 2, 1, 0])
})

type Handle = (res: ServerResponse) => Promise<string>

/** A server of a framework, whose handler returns what `handle` resolves with. */
interface App {
  readonly listener: RequestListener
  readonly guard: Pick<typeof overloadGuard extends () => infer G ? G : never, 'status'>
}

function koaApp(handle: Handle): App {
  const guard = onKoa(atMost(2))
  const app = new Koa().use(guard).use(async (ctx) => {
    ctx.body = await handle(ctx.res)
  })
  app.silent = true // it reports lost connections
  return { listener: app.callback(), guard }
}

async function fastifyApp(handle: Handle): Promise<App> {
  const guard = onFastify(atMost(2))
  const app = fastify()
  app.addHook('onRequest', guard)
  app.get('/wait', (_request, reply) => handle(reply.raw))
  await app.ready()
  return { listener: app.routing as RequestListener, guard }
}

function honoApp(handle: Handle): App {
  const guard = onHono(atMost(2))
  const app = new Hono<{ Bindings: { outgoing: ServerResponse } }>().use(guard)
  app.onError((_error, c) => c.text('failed', 500))
  app.get('/wait', async (c) => c.text(await handle(c.env.outgoing)))
  return { listener: getRequestListener(app.fetch as never), guard }
}

describe.each([
  ['Koa', koaApp],
  ['Fastify', fastifyApp],
  ['Hono', honoApp],
])('%s', (_name, make) => {
  test.each(['returns', 'throws'])(
    'a handler whose client has left has its place until it %s',
    async (how) => {
      const handlings: { res: ServerResponse; end(): void }[] = []
      const handle: Handle = (res) =>
        new Promise((resolve, reject) => {
          const end = () => (how === 'returns' ? resolve('late') : reject(new Error('failed')))
          handlings.push({ res, end })
        })
      const { listener, guard } = await make(handle)
      const { server } = await HTTP1.serve(listener)
      const socket = pipeline(server, 1)
      await until('the handler runs', () => handlings.length === 1, { everyMs: 1 })
      const left = closed((handlings[0] as (typeof handlings)[0]).res)
      runForAMinute()
      socket.resetAndDestroy()
      await left
      expect(guard.status().running).toBe(1)
      handlings[0]?.end()
      await watch(guard as never).runs(0)
    },
  )
})
