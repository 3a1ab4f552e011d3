import { fieldsOf } from '../util/values.js'
import type { KeyFunction } from './key-types.js'
import { asRequest, requestOf } from './request.js'

/** PATCH (RFC 5789), QUERY, and the methods of HTTP itself (RFC 9110 §9.3) other than HEAD. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY']

/** Stands for all other methods. */
const OTHER = '*'

/**
 * Creates a key that identifies a route by its method and pattern, such as `GET /users/:id`. It does not use
 * the raw path, which clients can vary. Join it with a key that identifies the client.
 *
 * HEAD counts as GET, because Express serves both with one handler. Methods other than those of HTTP, PATCH
 * and QUERY count as one. Many servers accept any word as a method, and each would be a fresh bucket.
 *
 * In Express the pattern is known inside a route (`app.get('/users/:id', rateLimit(…), handler)`). In
 * `app.use(rateLimit(…))`, only the method and the mount path are known. If a router is mounted on a path
 * with parameters (`app.use('/orgs/:org', router)`), each value of them counts separately, because Express
 * does not expose the pattern. Fastify knows the pattern in every hook. It is empty if no route matches.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { byIp, byRoute, rateLimit } from 'headgate'
 *
 * const app = express()
 * const perRoute = rateLimit({ limit: 30, window: '1m', key: [byIp(), byRoute()] })
 * app.get('/users/:id', perRoute, (req, res) => {
 *   res.send(req.params.id)
 * })
 * app.listen(3000)
 * ```
 */
export function byRoute(): KeyFunction<unknown> {
  return function routeKey(subject: unknown): string {
    const { method, baseUrl } = requestOf('byRoute', subject)
    const verb = typeof method === 'string' ? verbOf(method) : ''
    const mount = typeof baseUrl === 'string' ? canonicalMount(baseUrl) : ''
    return `${verb} ${mount}${String(routePattern(subject) ?? '')}`
  }
}

function verbOf(method: string): string {
  if (method === 'HEAD') return 'GET'
  return METHODS.includes(method) ? method : OTHER
}

/** A path of characters that `encodeURIComponent` leaves as they are. */
const UNRESERVED = /^[\w\-.!~*'()/]*$/

/**
 * Returns a mount path in one spelling. Express matches it in any case, and decodes the parameters in it.
 */
function canonicalMount(path: string): string {
  if (UNRESERVED.test(path)) return path.toLowerCase()
  return path
    .split('/')
    .map((segment) => encodeURIComponent(decoded(segment).toLowerCase()))
    .join('/')
}

/** Returns a decoded segment. A malformed one stays as it is: as a parameter, Express rejects it. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Returns the pattern of the route of a request, without the mount path; `undefined` if none is known. */
export function routePattern(subject: unknown): unknown {
  const request = asRequest(subject)
  const { route } = request
  const path = fieldsOf(route).path
  if (path !== undefined && path !== null) return path // no look at what Express' requests lack, which is slow
  const { routeOptions } = request // of Fastify
  if (route === undefined && routeOptions === undefined) return request.routerPath
  return fieldsOf(routeOptions).url
}
