import { fieldsOf } from '../util/values.js'
import type { KeyFunction } from './key.js'
import { asRequest, requestOf } from './request.js'

/**
 * The methods of HTTP itself (RFC 9110 §9.3), PATCH (RFC 5789) and QUERY, each with the method it counts as.
 */
const COUNTED_AS = new Map([
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY'].map(
    (method) => [method, method] as const,
  ),
  ['HEAD', 'GET'],
])

/** Stands for all other methods. */
const OTHER = '*'

/**
 * Identifies a route by method and pattern, such as `GET /users/:id`: not by the raw path, which a client
 * can vary. HEAD counts as GET, which Express serves it with. Methods beyond those of HTTP, PATCH and QUERY
 * count as one: many servers take any word as a method, and each would be a fresh bucket. Join it with a
 * client's key: `key: [byIp(), byRoute()]`.
 *
 * In Express the pattern is known inside a route (`app.get('/users/:id', rateLimit(…), handler)`). Before
 * routing, as in `app.use(rateLimit(…))`, only the method and the mount path are. A router mounted on a path
 * with parameters (`app.use('/orgs/:org', router)`) counts each value of them apart, since Express does not
 * expose the pattern. Fastify knows the pattern in every hook; it is empty if no route matches.
 */
export function byRoute(): KeyFunction<unknown> {
  return function routeKey(subject: unknown): string {
    const { method, baseUrl } = requestOf('byRoute', subject)
    const verb = typeof method === 'string' ? (COUNTED_AS.get(method) ?? OTHER) : ''
    // Express matches mount paths in any case.
    const mount = typeof baseUrl === 'string' ? baseUrl.toLowerCase() : ''
    return `${verb} ${mount}${String(routePattern(subject) ?? '')}`
  }
}

/** Returns the pattern of the route of a request, without the mount path; `undefined` if none is known. */
export function routePattern(subject: unknown): unknown {
  const { route, routeOptions } = asRequest(subject) // Fastify sets `routeOptions`, and others `route`
  return fieldsOf(route).path ?? fieldsOf(routeOptions).url
}
