import type http from 'node:http'
import { text } from 'node:stream/consumers'
import { type LoginGuard, loginGuard } from 'headgate'
import { listening } from '../adapters/express.js'
import { statusAt } from '../adapters/login.js'
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
    const server = createServer(async (req, res) => {
      const { url = '', method = '' } = req
      const body = await text(req)
      Object.assign(req, { body: body && JSON.parse(body) })
      guards.get(url.split('/')[1] as string)?.(req, res, () => {
        res.statusCode = statusAt(url, method, (req as { body?: unknown }).body)
        res.end()
      })
    })
    return (await listening(server.listen(0, '::1'))).port
  }
}
