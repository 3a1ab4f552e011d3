import type http from 'node:http'
import { type LoginGuard, loginGuard } from 'headgate'
import { listening } from '../adapters/express.js'
import { guardedHandler } from '../adapters/node-http.js'
import type { Listen, NeighborMount, SiteContext } from './server.js'

const MOUNTS: readonly NeighborMount[] = ['route', 'prefix', 'all', 'two']

export async function listenOnNodeHttp({ load, options }: SiteContext): Promise<Listen> {
  const { createServer } = load<typeof http>('node:http')
  return async () => {
    const guards = new Map<string, LoginGuard>()
    for (const mount of MOUNTS) {
      const path = mount === 'prefix' ? undefined : `/${mount}/login` // there are no routes
      guards.set(mount, loginGuard({ ...options(mount), ...(path && { path }) } as never))
    }
    const server = createServer(guardedHandler(guards))
    return (await listening(server.listen(0, '::1'))).port
  }
}
