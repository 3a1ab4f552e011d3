import http, { type RequestListener, type ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import fastify from 'fastify'
import { concurrency, memoryStore } from 'headgate'
import { rateLimitHook } from 'headgate/fastify'
import { rateLimit as fetchLimit } from 'headgate/fetch'
import { rateLimit as koaLimit } from 'headgate/koa'
import { Hono } from 'hono'
import Koa from 'koa'
import { until } from '../../support/servers/wait.js'

const LIMIT = 3
const OPTIONS = { policy: concurrency({ limit: LIMIT }), key: () => 'all' }

/** What the handler of a request waits for, and its response. */
interface Handling {
  readonly res: ServerResponse
  end(): void
}

type Handle = (res: ServerResponse) => Promise<unknown>

/** An application of a framework, whose handler returns what `handle` resolves with. */
interface App {
  readonly listener: RequestListener
  readonly limiter: { peek(subject: never): unknown }
}

function koa(handle: Handle): App {
  const limit = koaLimit({ ...OPTIONS, store: memoryStore() })
  const app = new Koa().use(limit).use(async (ctx) => {
    ctx.body = await handle(ctx.res)
  })
  app.silent = true // it reports lost connections
  return { listener: app.callback(), limiter: limit.limiter }
}

async function fastifyApp(handle: Handle): Promise<App> {
  const hook = rateLimitHook({ ...OPTIONS, store: memoryStore() })
  const app = fastify()
  app.get('/', { onRequest: hook }, (_request, reply) => handle(reply.raw))
  await app.ready()
  return { listener: app.routing as RequestListener, limiter: hook.limiter }
}

function hono(handle: Handle): App {
  const limit = fetchLimit({ ...OPTIONS, store: memoryStore() })
  const app = new Hono<{ Bindings: { outgoing: ServerResponse } }>()
  app.get('/', async (c) => {
    const refused = await limit(c.req.raw, { ip: '192.0.2.1' })
    const body = (await handle(c.env.outgoing)) as ReadableStream
    return refused ?? limit.finish(c.req.raw, new Response(body))
  })
  return { listener: getRequestListener(app.fetch as never), limiter: limit.limiter }
}

let server: http.Server
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function serve(make: (handle: Handle) => App | Promise<App>, body: () => unknown = () => 'hello') {
  const handlings: Handling[] = []
  const { listener, limiter } = await make(
    (res) => new Promise((resolve) => handlings.push({ res, end: () => resolve(body()) })),
  )
  server = http.createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const free = async () =>
    ((await limiter.peek({ ip: '192.0.2.7' } as never)) as { remaining: number }).remaining
  return {
    handlings,
    free,
    isFree: (count: number) => until(`${count} are free`, async () => (await free()) === count),
    /** Sends requests over one connection, and resolves once they have reached their handler. */
    async send(count: number): Promise<net.Socket> {
      const wanted = handlings.length + count
      const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count))
      await until('requests are handled', () => handlings.length === wanted)
      return socket
    },
  }
}

test.each([
  ['Koa', koa],
  ['Fastify', fastifyApp],
  ['Hono', hono],
])('in %s, clients that leave make no room until their handlers end', async (_name, make) => {
  const { handlings, send, free, isFree } = await serve(make)
  const sockets = [await send(1), await send(1)]
  const closed = handlings.map(({ res }) => new Promise((resolve) => res.once('close', resolve)))
  for (const socket of sockets) socket.resetAndDestroy()
  await Promise.all(closed)
  expect(await free()).toBe(LIMIT - 2)
  for (const { end } of handlings) end()
  await isFree(LIMIT)
})

test('in Hono, pipelined streams that nobody reads make room when their connection is reset', async () => {
  const endless = () => new ReadableStream({ pull: (each) => each.enqueue(new Uint8Array(65_536)) })
  const { handlings, send, free, isFree } = await serve(hono, endless)
  const socket = await send(LIMIT)
  for (const { end } of handlings) end()
  await until('all responses have begun', () => handlings.every(({ res }) => res.headersSent))
  expect(await free()).toBe(0)
  socket.resetAndDestroy()
  await isFree(LIMIT)
})

test('in Hono, a pipelined request whose handler still runs makes room once that ends', async () => {
  const { handlings, send, free, isFree } = await serve(hono)
  const socket = await send(2)
  socket.resetAndDestroy()
  await until('the connection is closed', () => handlings[0]?.res.closed)
  expect(await free()).toBe(LIMIT - 2)
  for (const { end } of handlings) end()
  await isFree(LIMIT)
})
