import { once } from 'node:events'
import http, { type IncomingMessage, type RequestListener } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import fastify from 'fastify'
import { overloadGuard as onFastify } from 'headgate/fastify'
import { overloadGuard as onHono } from 'headgate/hono'
import { overloadGuard as onKoa } from 'headgate/koa'
import { Hono } from 'hono'
import Koa from 'koa'
import { closeServers, serve } from '../../support/http.js'
import { until } from '../../support/servers/wait.js'

afterEach(closeServers)

const one = { minLimit: 1, maxLimit: 1, maxWait: 0 } as const

/** The body that a handler sends. */
type Body = () => PassThrough

interface Guarded {
  readonly listener: RequestListener
  readonly guard: { status(): { readonly running: number } }
  /** The classes of the responses that have begun. */
  readonly classes: readonly string[]
}

async function fastifyApp(body: Body): Promise<Guarded> {
  const classes: string[] = []
  const guard = onFastify({
    ...one,
    routeClass: ({ routeOptions }, { statusCode }) => noted(classes, `${routeOptions.url} ${statusCode}`),
  })
  const app = fastify()
  app.addHook('onRequest', guard)
  app.get('/files/:name', (_request, reply) => reply.code(206).send(body()))
  await app.ready()
  return { listener: app.routing as RequestListener, guard, classes }
}

function koaApp(body: Body): Guarded {
  const classes: string[] = []
  const guard = onKoa({ ...one, routeClass: (ctx, { status }) => noted(classes, `${ctx.path} ${status}`) })
  const app = new Koa().use(guard).use((ctx) => {
    ctx.status = 206
    ctx.body = body()
  })
  app.silent = true
  return { listener: app.callback(), guard, classes }
}

function honoApp(body: Body): Guarded {
  const classes: string[] = []
  const guard = onHono({ ...one, routeClass: (c, { status }) => noted(classes, `${c.req.path} ${status}`) })
  const app = new Hono().use(guard)
  app.get('/files/:name', () => new Response(Readable.toWeb(body()) as ReadableStream, { status: 206 }))
  return { listener: getRequestListener(app.fetch), guard, classes }
}

function noted(list: string[], name: string): string {
  list.push(name)
  return name
}

test.each([
  ['Fastify', fastifyApp, '/files/:name 206'],
  ['Koa', koaApp, '/files/a 206'],
  ['Hono', honoApp, '/files/a 206'],
])('in %s, a stream has a place until its first byte', async (_name, make, routeClass) => {
  const body = new PassThrough()
  const { listener, guard, classes } = await make(() => body)
  const { port } = await serve(listener)
  body.write('first')
  const [res] = (await once(http.get({ port, path: '/files/a', agent: false }), 'response')) as [
    IncomingMessage,
  ]
  await until('the place is free', () => guard.status().running === 0)
  expect(classes).toEqual([routeClass])
  expect(res.complete).toBe(false)
  body.end()
  res.resume()
  await once(res, 'end')
})
