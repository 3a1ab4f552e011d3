import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type Router from '@koa/router'
import { loginGuard } from 'headgate/koa'
import type Koa from 'koa'
import type { Middleware } from 'koa'
import { loginStatus } from '../adapters/login.js'
import type { Guards, Listen, SiteContext } from './server.js'

const parse: Middleware = async (ctx, next) => {
  if (ctx.is('json')) Object.assign(ctx.request, { body: await json(ctx.req) })
  await next()
}

const check: Middleware = (ctx) => {
  ctx.status = loginStatus((ctx.request as { body?: unknown }).body)
}

const accept: Middleware = (ctx) => {
  ctx.body = 'a form, or a message'
}

const hide =
  (middleware: Middleware): Middleware =>
  (ctx, next) =>
    middleware(ctx, next)

type Compose = (all: readonly unknown[]) => Middleware
type Mount = (prefix: string, app: unknown) => Middleware

export async function listenOnKoa({ load, layout, options }: SiteContext): Promise<Listen> {
  const Application = load<typeof Koa>('koa')
  const { Router: KoaRouter } = load<{ Router: typeof Router }>('@koa/router')
  const wrap = layout === 'wrapped' ? hide : (middleware: Middleware) => middleware
  return async () => {
    const app = new Application().use(parse)
    const guards: Guards<Middleware> = (mount) => wrap(loginGuard(options(mount)))

    /** Uses the router of a prefix, once it has its routes. */
    function below(prefix: string, define: (router: Router) => unknown): void {
      const router = new KoaRouter(layout === 'sub-applications' ? {} : { prefix })
      define(router)
      const routed = [router.routes(), router.allowedMethods()]
      if (layout === 'composed') app.use(load<Compose>('koa-compose')(routed))
      else if (layout === 'sub-applications') {
        const inner = new Application().use(router.routes()).use(router.allowedMethods())
        app.use(load<Mount>('koa-mount')(prefix, inner))
      } else app.use(router.routes()).use(router.allowedMethods())
    }

    below('/route', (router) => router.post('/login', guards('route'), check))
    below('/all', (router) => router.all('/login', guards('all'), check))
    below('/prefix', (router) => {
      router.use(guards('prefix'))
      router.post('/login', check).get('/login', accept).options('/login', accept).post('/forgot', accept)
    })
    const two = guards('two')
    below('/two', (router) => router.post('/login', two, check))
    below('/two', (router) => router.post('/forgot', two, accept))
    const server = app.listen(0, '::1')
    await new Promise((resolve) => server.once('listening', resolve))
    return (server.address() as AddressInfo).port
  }
}
