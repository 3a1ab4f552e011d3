import { routePattern } from '../keys/by-route.js'
import { asRequest } from '../keys/request.js'
import { wrongOption } from '../util/validate.js'
import { fieldsOf } from '../util/values.js'

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
const FORM_METHODS: readonly unknown[] = ['POST', 'PUT', 'PATCH']
/** Statuses that say that no handler has looked at the password: RFC 9110 §15.5.5, 15.5.6, 15.6.2. */
export const UNHANDLED: readonly number[] = [404, 405, 501]
/** The most places that are remembered to have rejected credentials. Without routes, clients choose their paths. */
const MAX_PLACES = 1000
const ELSEWHERE = Symbol('a place that is not one route')

export function hasSafeMethod(req: unknown): boolean {
  return SAFE_METHODS.includes(asRequest(req).method)
}

/**
 * Creates the places of a guard. The login is a POST to one of `paths`. Without `paths`, it is a POST to the
 * only route that the guard is part of, if its pattern matches a single path. If `decides`, the application
 * says what succeeds, and other methods may also log in.
 *
 * Clients choose which paths they request. So a process that has seen requests of only one route must not
 * conclude that there is no other: the framework has to show it. If it does not, the route must have
 * responded with 401, which only a check of credentials does (RFC 9110 §15.5.2).
 *
 * A process that has not seen that 401 clears nothing after a success. So failures in a row count only where
 * no process needs to see one.
 */
export function loginPlaces<Req>(
  paths: readonly string[] | undefined,
  decides: boolean,
  routeOf: RouteOf<Req>,
) {
  const routes = paths?.map(withoutSlash)
  let only: unknown
  let isOnly = true
  /** The patterns of routes at which a success has cleared failures in a row, and would do so again. */
  const clearingRoutes = new Set<unknown>()
  /** Methods and places that have responded with 401, as Basic authentication does by GET. */
  const rejectingPlaces = new Set<string>()
  /** The `paths` that take forms. There, another method may show the form, or log out. */
  const formPaths = new Set<string>()

  function arrive(req: Req): Arrival {
    if (hasSafeMethod(req)) return false
    if (paths !== undefined) return pathAt(req) !== undefined
    const route = routeOf(req)
    const isOne = isLiteral(route.path) && route.isOnly !== false
    const id = isOne ? (route.id ?? withoutSlash(route.path)) : ELSEWHERE
    only ??= id
    if (isOnly && id !== only) {
      isOnly = false
      clearingRoutes.clear()
    }
    return isOne && route.isOnly
  }

  /** Returns whether a request may have been sent to the login, but only a 401 there can prove it. */
  function isUnproven(arrival: Arrival, req: Req): boolean {
    return arrival === undefined && isOnly && !hasRejected(req)
  }

  /**
   * Returns whether a request, as it is when the response is sent, counts as one to the login in every
   * process. Middleware may have given it another method.
   */
  function isLoginEverywhere(arrival: Arrival, req: Req): boolean {
    const { method } = asRequest(req)
    const isForm = method === 'POST' || (decides && FORM_METHODS.includes(method))
    if (paths === undefined) return isForm && isOnly && arrival === true
    const path = pathAt(req)
    if (isForm) return arrival === true || path !== undefined
    return decides && !BODILESS.includes(method) && path !== undefined && !formPaths.has(path)
  }

  /**
   * Returns whether a request counts as one to the login in this process, which may have seen a 401 there.
   */
  function isLogin(arrival: Arrival, req: Req): boolean {
    if (isLoginEverywhere(arrival, req)) return true
    if (!hasRejected(req)) return false
    const { method } = asRequest(req)
    if (decides) return !BODILESS.includes(method) && (paths === undefined || pathAt(req) !== undefined)
    return method === 'POST' && isOnly && arrival === undefined
  }

  const hasRejected = (req: Req) => rejectingPlaces.has(methodAndPlace(req))

  /** Returns the one of `paths` that a request was sent to, or that its route has. */
  function pathAt(req: Req): string | undefined {
    const path = paths?.find((each) => each === pathOf(req))
    return path === undefined ? routes?.find((each) => each === routePathOf(req)) : withoutSlash(path)
  }

  return {
    arrive,
    isLogin,
    /** Returns whether a success that cleared nothing may have been a login, so that a warning is due. */
    isMissed(arrival: Arrival, req: Req, failures: number): boolean {
      if (hasSafeMethod(req)) return failures > 0 && (decides || hasRejected(req))
      return failures > 0 || !isUnproven(arrival, req)
    },
    isUnproven,
    /**
     * Records what a response shows. A 401 shows that the place checks passwords. Any response of a handler
     * to a form method shows that the path takes forms.
     */
    recordStatus(req: Req, status: number): void {
      const path = pathAt(req)
      const isForm = FORM_METHODS.includes(asRequest(req).method) && !UNHANDLED.includes(status)
      if (isForm && path !== undefined && !formPaths.has(path)) {
        formPaths.add(path)
        clearingRoutes.delete(routePattern(req))
      }
      if (status !== 401) return
      const place = methodAndPlace(req)
      const [oldest] = rejectingPlaces
      if (rejectingPlaces.size >= MAX_PLACES && !rejectingPlaces.has(place))
        rejectingPlaces.delete(oldest as string)
      rejectingPlaces.add(place)
    },
    /** Records that a success counted at the route of this request, or that one was reported there. */
    recordSuccess(arrival: Arrival, req: Req, isReported: boolean): void {
      if (isReported || isLoginEverywhere(arrival, req)) clearingRoutes.add(routePattern(req))
    },
    /**
     * Returns whether a success where this request was sent clears failures in a row, in whichever process.
     */
    countsInRow: (arrival: Arrival, req: Req) =>
      isLoginEverywhere(arrival, req) || clearingRoutes.has(routePattern(req)),
  }
}

/** Returns the path of a request as it was sent, without the query. */
export function pathOf(req: unknown): string {
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
 * Returns what identifies a place: the method and its route or, if there is no route, the path as sent. The
 * route is in lower case, because clients may write its mount path in any case.
 */
function methodAndPlace(req: unknown): string {
  const { method } = asRequest(req)
  const isRouted = routePattern(req) !== undefined
  return isRouted ? `${method} route ${routePathOf(req).toLowerCase()}` : `${method} path ${pathOf(req)}`
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
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
