import { asRequest } from '../keys/request.js'
import { show, wrongOption } from '../util/validate.js'
import { warnOnce } from '../util/warn-once.js'

/**
 * Returns the pattern of the route that a guard is part of; `undefined` if it may also see other requests.
 */
export type RouteOf<Req> = (req: Req) => unknown

/**
 * What a response that looks like a success is worth: `'login'`, a success, because the request was sent to
 * what checks the password; `'safe'`, nothing, because its method is safe (RFC 9110 §9.2.1) and a GET route
 * or the framework itself may have responded; `'unknown'`, nothing either.
 */
export type Place = 'login' | 'safe' | 'unknown'

const SAFE_METHODS: readonly unknown[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE']

export function hasSafeMethod(req: unknown): boolean {
  return SAFE_METHODS.includes(asRequest(req).method)
}

/**
 * Creates the function that tells at which place a request arrives. The login is a POST to one of `paths`,
 * which are compared exactly; or else to the only route that the guard is part of, if its pattern matches a
 * single path. Whoever sends a request chooses its path, so no rule here depends on the paths seen so far.
 */
export function placeFinder<Req>(
  paths: readonly string[] | undefined,
  routeOf: RouteOf<Req>,
): (req: Req) => Place {
  const isOnlyRoute = onlyValue()

  function isLogin(req: Req): boolean {
    if (paths !== undefined) return paths.includes(pathOf(req))
    const route = routeOf(req)
    return isLiteral(route) && isOnlyRoute(route)
  }

  return (req) => {
    if (hasSafeMethod(req)) return 'safe'
    return isLogin(req) && asRequest(req).method === 'POST' ? 'login' : 'unknown'
  }
}

/** Returns where a request ended up: middleware after the guard may have given it another method. */
export function placeAtEnd(place: Place, req: unknown): Place {
  if (hasSafeMethod(req)) return 'safe'
  return asRequest(req).method === 'POST' ? place : 'unknown'
}

/** Returns the path of a request as it was sent, without the query. */
function pathOf(req: unknown): string {
  const { originalUrl, url } = asRequest(req)
  const [path = ''] = String(originalUrl ?? url ?? '').split('?', 1)
  return path
}

/** Reports a success that cleared nothing, once for each guard. The client chose the method and the path. */
export function warnOfPlace(guard: string, req: unknown): void {
  const seen = show(`${asRequest(req).method} ${pathOf(req)}`)
  warnOnce(
    'HEADGATE_LOGIN_PATH',
    `headgate: loginGuard ${show(guard)} saw a successful response (${seen}), but cleared no ` +
      'failures: it does not know whether a password was checked. ' +
      "Set path, such as path: '/login', or call guard.reportSuccess(req).",
    guard,
  )
}

export function readPaths(owner: string, option: string, value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) && value.length > 0 ? Array.from(value) : [value]
  return list.map((path) => {
    if (isLiteral(path)) return path
    const must = "a path such as '/login', without patterns, or an array of paths"
    throw wrongOption(owner, option, must, path, 'For other paths, call guard.reportSuccess(req).')
  })
}

/** Characters that have a meaning in the patterns of Express, Fastify or Koa. */
const PATTERN = /[*:?+()[\]{}|^$!\\]/

/** Returns whether a pattern matches one path, but for its case and a slash at its end. */
function isLiteral(pattern: unknown): pattern is string {
  return typeof pattern === 'string' && pattern.startsWith('/') && !PATTERN.test(pattern)
}

/**
 * Creates a function that returns whether it has only ever been called with this value. The application
 * wrote the patterns of all routes, so no client can add one.
 */
function onlyValue(): (value: string) => boolean {
  let only: string | undefined
  let isOnly = true
  return (value) => {
    only ??= value
    isOnly &&= value === only
    return isOnly
  }
}
