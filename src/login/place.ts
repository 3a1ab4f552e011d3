import { routePattern } from '../keys/by-route.js'
import { asRequest } from '../keys/request.js'
import { show, wrongOption } from '../util/validate.js'
import { fieldsOf } from '../util/values.js'
import { warnOnce } from '../util/warn-once.js'

/** The route in which a guard runs, as the framework reports it for a request. */
export interface GuardRoute {
  /** The pattern of the route; `undefined` outside of routes. */
  readonly path: unknown
  /** Identifies the route if the pattern does not, as in routers below different paths. */
  readonly id?: unknown
  /**
   * Whether the guard is only in this route, as far as the framework shows. `undefined` if it may also be
   * elsewhere: a wrapper hides it, such as the instrumentation of an agent, or the framework shows nothing.
   */
  readonly isOnly: boolean | undefined
}

export type RouteOf<Req> = (req: Req) => GuardRoute

/** For frameworks that report no routes. */
export const noRoute = (): GuardRoute => ({ path: undefined, isOnly: false })

/** Returns whether a handler is a guard, or a wrapper with the properties of one, as most agents create. */
export function isGuard(handler: unknown, guard: { readonly limiter: unknown }): boolean {
  return handler === guard || fieldsOf(handler).limiter === guard.limiter
}

/** Whether a request arrives at the login; `undefined` if only a 401 there can prove that it does. */
export type Arrival = boolean | undefined

const SAFE_METHODS: readonly unknown[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE']
/** Methods of requests without a password, to which the framework itself may respond. */
const BODILESS: readonly unknown[] = ['HEAD', 'OPTIONS', 'TRACE']
/** Methods of forms and clients that log in. Others may do anything else there: DELETE logs out. */
const LOGIN_METHODS: readonly unknown[] = ['POST', 'PUT', 'PATCH']
/** The most places that are remembered to have rejected credentials. Without routes, clients choose their paths. */
const MAX_PLACES = 1000
const ELSEWHERE = Symbol('a place that is not one route')

export function hasSafeMethod(req: unknown): boolean {
  return SAFE_METHODS.includes(asRequest(req).method)
}

/**
 * Creates the places of a guard. The login is a POST to one of `paths`. Without `paths`, it is a POST to the
 * only route that the guard is part of, if its pattern matches a single path.
 *
 * Clients choose which paths they request. So a process that has seen requests of only one route must not
 * conclude that there is no other: the framework has to show it. If it does not, the route must have
 * responded with 401, which only a check of credentials does (RFC 9110 §15.5.2).
 */
export function loginPlaces<Req>(paths: readonly string[] | undefined, routeOf: RouteOf<Req>) {
  const routes = paths?.map(withoutSlash)
  let only: unknown
  let isOnly = true
  /** The patterns of routes at which a success has been counted. The application wrote them all. */
  const seen = new Set<unknown>()
  /** Methods and places that have responded with 401, as Basic authentication does by GET. */
  const rejecting = new Set<string>()

  function arrive(req: Req): Arrival {
    if (hasSafeMethod(req)) return false
    if (paths !== undefined) return isAtPath(req)
    const route = routeOf(req)
    const isOne = isLiteral(route.path) && route.isOnly !== false
    const id = isOne ? (route.id ?? withoutSlash(route.path)) : ELSEWHERE
    only ??= id
    isOnly &&= id === only
    return isOne && route.isOnly
  }

  /** Returns whether a request may have been sent to the login, but only a 401 there can prove it. */
  function isUnproven(arrival: Arrival, req: Req): boolean {
    return arrival === undefined && isOnly && !hasRejected(req)
  }

  /** Returns whether a request ended up at the login. Middleware may have given it another method. */
  function isLogin(arrival: Arrival, req: Req): boolean {
    if (asRequest(req).method !== 'POST') return false
    if (paths !== undefined) return arrival || isAtPath(req)
    return isOnly && (arrival ?? hasRejected(req))
  }

  const hasRejected = (req: Req) => rejecting.has(methodAndPlace(req))

  /** Returns whether a request was sent to one of the paths, or to a route with that path. */
  function isAtPath(req: Req): boolean {
    return paths === undefined || paths.includes(pathOf(req)) || routes?.includes(routePathOf(req)) === true
  }

  return {
    arrive,
    isLogin,
    /**
     * Returns whether `succeeded` decides about a request: at the login, or where the same method has got 401.
     * Else a rule by the status would take a form, a logout or the framework's own response for a login.
     */
    isDecidedAt(arrival: Arrival, req: Req): boolean {
      const { method } = asRequest(req)
      if (BODILESS.includes(method) || !isAtPath(req)) return false
      return (LOGIN_METHODS.includes(method) && arrival && isOnly) || hasRejected(req)
    },
    /** Returns whether what looks like a success elsewhere should have cleared failures of the account. */
    isMissed(arrival: Arrival, req: Req, failures: number): boolean {
      if (hasSafeMethod(req)) return failures > 0 && hasRejected(req)
      return failures > 0 || !isUnproven(arrival, req)
    },
    isUnproven,
    /** Notes that a 401 shows where the password is checked. */
    learn(req: Req, status: number): void {
      if (status !== 401) return
      const place = methodAndPlace(req)
      const [oldest] = rejecting
      if (rejecting.size >= MAX_PLACES && !rejecting.has(place)) rejecting.delete(oldest as string)
      rejecting.add(place)
    },
    /** Records that a success of the account was counted where this request was sent. */
    recordSuccess: (req: Req) => void seen.add(routePattern(req)),
    /** Returns whether a success would be counted where a request was sent, or has been. */
    canSucceed: (arrival: Arrival, req: Req) => isLogin(arrival, req) || seen.has(routePattern(req)),
  }
}

/** Returns the path of a request as it was sent, without the query. */
function pathOf(req: unknown): string {
  const { originalUrl, url } = asRequest(req)
  const [path = ''] = String(originalUrl ?? url ?? '').split('?', 1)
  return path
}

/** Returns the pattern of the route of a request, below the path where its router is mounted. */
function routePathOf(req: unknown): string {
  const { baseUrl } = asRequest(req)
  const mount = typeof baseUrl === 'string' ? baseUrl : ''
  return withoutSlash(`${mount}${String(routePattern(req) ?? '')}`)
}

/**
 * Returns what tells the places of an application apart: the method with the route, whose mount path clients
 * may write in any case, or else with the path as sent.
 */
function methodAndPlace(req: unknown): string {
  const { method } = asRequest(req)
  const isRouted = routePattern(req) !== undefined
  return isRouted ? `${method} route ${routePathOf(req).toLowerCase()}` : `${method} path ${pathOf(req)}`
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** Reports a success that cleared nothing, once for each guard. If `isUnproven`, a 401 would prove one. */
export function warnOfPlace(guard: string, req: unknown, isUnproven: boolean): void {
  const request = show(`${asRequest(req).method} ${pathOf(req)}`)
  const reason = isUnproven
    ? 'something (a wrapper, an agent or a mounted application) hides whether the guard is only in this ' +
      'route, and no wrong password has got a 401 here. If wrong passwords get another status, such as ' +
      "400, 403 or 422, set path, such as path: '/login', or call guard.reportSuccess(req)."
    : "it does not know whether a password was checked. Set path, such as path: '/login', call " +
      'guard.reportSuccess(req), or respond to wrong passwords with 401. For methods other than POST, set ' +
      'succeeded.'
  warnOnce(
    'HEADGATE_LOGIN_PATH',
    `headgate: loginGuard ${show(guard)} saw a successful response (${request}), but cleared no failures: ${reason}`,
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
export function isLiteral(pattern: unknown): pattern is string {
  return typeof pattern === 'string' && pattern.startsWith('/') && !PATTERN.test(pattern)
}
