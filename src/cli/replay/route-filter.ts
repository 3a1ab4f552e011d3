import { UsageError } from '../failures.js'
import type { LoggedRequest } from '../log/request-line.js'

/** Returns whether the limit applies to a request. */
export type RouteFilter = (request: LoggedRequest) => boolean

/**
 * Creates the filter of `--only`: routes such as `POST /login`, `/login` for every method, or `GET /api/*`
 * for all paths that begin with `/api/`. A request passes if it matches one of them; without any, all pass.
 */
export function routeFilter(routes: readonly string[]): RouteFilter {
  const matchers = routes.map(routeMatcher)
  if (matchers.length === 0) return () => true
  return (request) => matchers.some((matches) => matches(request))
}

function routeMatcher(route: string): RouteFilter {
  const [, method, pattern = ''] = /^(?:([A-Za-z-]+) +)?(\/\S*)$/.exec(route.trim()) ?? []
  if (pattern === '') {
    const must = "a path, or a method and a path, such as 'POST /login' or '/api/*'"
    throw new UsageError(`--only must be ${must}, got ${JSON.stringify(route)}`)
  }
  const verb = method?.toUpperCase()
  const prefix = pattern.endsWith('*') ? pattern.slice(0, -1) : undefined
  return (request) => {
    if (verb !== undefined && request.method.toUpperCase() !== verb) return false
    return prefix === undefined ? request.path === pattern : request.path.startsWith(prefix)
  }
}
