import { memoryStore } from 'headgate'
import { headerOf } from '../../../../src/keys/request.js'
import type { LoginOptions } from '../../../../src/login/options.js'
import type { ServerTypes } from '../../../../src/util/framework-types.js'

/**
 * Where the guard of a site stands: in the route of the login, before several paths, or before all methods.
 */
export type Mount = 'route' | 'prefix' | 'all'

export const MOUNTS: readonly Mount[] = ['route', 'prefix', 'all']

/**
 * What a framework serves below the name of each mount: `/route/login` takes POST; `/prefix/login` takes
 * POST, and responds 200 to other methods, as does `/prefix/forgot` to all; `/all/login` checks passwords on
 * all.
 */
export interface Site {
  readonly port: number
  close(): Promise<unknown>
}

/** A framework, and what starts its site on a free port of ::1. */
export interface SiteOf {
  readonly name: string
  start(): Promise<Site>
}

/** The options of the guard of a mount, with default limits, whose windows stand still. */
export function guardOptions(mount: Mount | 'two'): LoginOptions<ServerTypes<unknown, unknown>> {
  return {
    field: 'username',
    name: mount,
    store: memoryStore({ clock: () => 0 }),
    address: (req) => headerOf(req, 'x-from'),
    deviceCookie: { secret: 'for the attacks only, and for nothing else' },
  }
}

/** Returns the status of a login: 401 for a wrong password, 400 where there is none to check. */
export function loginStatus(body: unknown): number {
  const { username, password } = (body ?? {}) as Record<string, unknown>
  if (typeof username !== 'string' || typeof password !== 'string') return 400
  return password === 'analytical engine' ? 200 : 401
}

/** Returns the status of one of the paths below a mount. */
export function statusAt(url: string, method: string, body: unknown): number {
  if (url.endsWith('/forgot') || (url === '/prefix/login' && method !== 'POST')) return 200
  return loginStatus(body)
}
