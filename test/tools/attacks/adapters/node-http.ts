import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type LoginGuard, type LoginGuardOptions, loginGuard } from 'headgate'
import { listening } from './express.js'
import { guardOptions, MOUNTS, type SiteOf, statusAt } from './login.js'

/** Creates the handler of a site, whose guards are called by the name of their mount. */
export function guardedHandler(guards: ReadonlyMap<string, LoginGuard>) {
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { url = '', method = '' } = req
    const body = await text(req)
    Object.assign(req, { body: body && JSON.parse(body) })
    guards.get(url.split('/')[1] as string)?.(req, res, () => {
      res.statusCode = statusAt(url, method, (req as { body?: unknown }).body)
      res.end()
    })
  }
}

export const nodeHttpSite: SiteOf = {
  name: 'node:http',
  async start() {
    const guards = new Map(
      MOUNTS.map((mount) => {
        const path = mount === 'route' ? '/route/login' : undefined // a guard in a route is told its path
        return [
          mount as string,
          loginGuard({ ...guardOptions(mount), ...(path && { path }) } as LoginGuardOptions),
        ]
      }),
    )
    return listening(http.createServer(guardedHandler(guards)).listen(0, '::1'))
  },
}
