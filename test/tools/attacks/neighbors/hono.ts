import type { Server } from 'node:http'
import type { createAdaptorServer } from '@hono/node-server'
import { loginGuard } from 'headgate/hono'
import type { Context, Hono, MiddlewareHandler } from 'hono'
import { listening } from '../adapters/express.js'
import { loginStatus } from '../adapters/login.js'
import type { Listen, NeighborMount, SiteContext } from './server.js'

type Status = 200 | 400 | 401

const bodyOf = (c: Context): Promise<unknown> => c.req.json().catch(() => undefined) // GET has no body

const check = async (c: Context) => c.text('', loginStatus(await bodyOf(c)) as Status)
const accept = (c: Context) => c.text('a form, or a message')

export async function listenOnHono({ load, agent, options }: SiteContext): Promise<Listen> {
  const { Hono: Application } = load<{ Hono: typeof Hono }>('hono')
  const node = load<{ createAdaptorServer: typeof createAdaptorServer }>('@hono/node-server')
  return async () => {
    const app = new Application()
    if (agent === '@hono/otel') {
      type Otel = { httpInstrumentationMiddleware(): MiddlewareHandler }
      app.use(load<Otel>('@hono/otel').httpInstrumentationMiddleware())
    }
    /** Hono reports no routes, so a guard of one route is told its path. */
    const guards = (mount: NeighborMount, path?: string) =>
      loginGuard({ ...options(mount), ...(path && { path }) } as never)
    const below = (prefix: string) => {
      const router = new Application()
      return { router, mount: () => app.route(prefix, router) }
    }
    const route = below('/route')
    route.router.post('/login', guards('route', '/route/login'), check)
    const all = below('/all')
    all.router.all('/login', guards('all', '/all/login'), check)
    const prefixed = below('/prefix')
    prefixed.router.use(guards('prefix'))
    prefixed.router.post('/login', check).get('/login', accept).post('/forgot', accept)
    prefixed.router.options('/login', accept)
    const two = below('/two')
    const guardOfTwo = guards('two', '/two/login')
    two.router.post('/login', guardOfTwo, check).post('/forgot', guardOfTwo, accept)
    for (const { mount } of [route, all, prefixed, two]) mount()
    const server = node.createAdaptorServer({ fetch: app.fetch }) as Server
    return (await listening(server.listen(0, '::1'))).port
  }
}
