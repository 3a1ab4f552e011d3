import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { type FetchInfo, type LoginGuardOptions, loginGuard } from 'headgate/fetch'
import { type Context, Hono } from 'hono'
import { listening } from './express.js'
import { guardOptions, MOUNTS, type SiteOf, statusAt } from './login.js'

async function infoOf(c: Context): Promise<FetchInfo> {
  return { body: await c.req.json().catch(() => undefined) } // a Request with GET has no body
}

export const honoSite: SiteOf = {
  name: 'Hono',
  async start() {
    const app = new Hono()
    for (const mount of MOUNTS) {
      const path = mount === 'route' ? '/route/login' : undefined // a guard in a route is told its path
      const guard = loginGuard({ ...guardOptions(mount), ...(path && { path }) } as LoginGuardOptions)
      app.use(`/${mount}/*`, async (c) => {
        const info = await infoOf(c)
        const respond = () => new Response(null, { status: statusAt(c.req.path, c.req.method, info.body) })
        return guard.handle(c.req.raw, info, respond)
      })
    }
    return listening((createAdaptorServer({ fetch: app.fetch }) as Server).listen(0, '::1'))
  },
}
