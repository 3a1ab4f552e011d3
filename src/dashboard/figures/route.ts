import { routePattern } from '../../keys/by-route.js'
import { asRequest, type RequestLike, views } from '../../keys/request.js'
import { requestWithin } from '../../keys/request-within.js'
import { escapeUnprintable } from '../../util/printable.js'
import { isObject } from '../../util/values.js'

/** The most segments of a path that tell routes apart, and their longest. */
const MAX_SEGMENTS = 6
const MAX_SEGMENT_LENGTH = 32
/** The longest route. */
const MAX_LENGTH = 100
/** The longest part of a URL that is read. */
const MAX_READ = 500

const PRINTABLE = /^[ -~]*$/
const METHOD = /^[A-Z]{3,10}$/
/** A segment of letters, as developers name routes. */
const PLAIN = /^[\w.~:*-]+$/
const DIGITS = /^\d+$/
const HAS_DIGIT = /\d/
/** At least this long, a segment with a digit is an id, as a hash, a UUID or a slug with its number. */
const ID_LENGTH = 8

/**
 * Returns the route of a request: its method, and the pattern of its path if the framework knows it, or its path
 * with ids folded, such as `GET /users/:id`. Returns `undefined` for a subject that is not an HTTP request.
 * Clients choose paths, so callers keep a bounded number of routes.
 */
export function routeOf(subject: unknown): string | undefined {
  const request = isRequest(subject) ? subject : (requestWithin(subject) ?? asRequest(subject))
  const { method, originalUrl, url, baseUrl } = request
  if (typeof method !== 'string') return undefined
  const pattern = routePattern(request)
  const mount = typeof baseUrl === 'string' && baseUrl !== '' ? foldedPath(baseUrl) : ''
  const path = typeof pattern === 'string' ? mount + pattern : foldedPath(originalUrl ?? url)
  const verb = METHOD.test(method) ? method : '*'
  const route = `${verb} ${path}`.slice(0, MAX_LENGTH)
  return PRINTABLE.test(route) ? route : escapeUnprintable(route)
}

/** Returns whether a subject is itself a request of HTTP, as most are, and has no view. */
function isRequest(subject: unknown): subject is RequestLike {
  if (views.areUsed || !isObject(subject)) return false
  return typeof subject.method === 'string' && typeof subject.url === 'string'
}

/** Returns a path without its query, in which ids are `:id`. */
export function foldedPath(url: unknown): string {
  if (typeof url !== 'string') return ''
  const path = url.slice(0, MAX_READ).replace(/^\w+:\/\/[^/?#]*/, '')
  const [plain = ''] = path.split(/[?#]/, 1)
  const segments = plain.split('/').slice(1)
  const shown = segments.slice(0, MAX_SEGMENTS).map((segment) => (isId(segment) ? ':id' : segment))
  return `/${shown.join('/')}${segments.length > MAX_SEGMENTS ? '/…' : ''}`
}

function isId(segment: string): boolean {
  if (segment === '') return false
  if (DIGITS.test(segment) || segment.length > MAX_SEGMENT_LENGTH || !PLAIN.test(segment)) return true
  return segment.length >= ID_LENGTH && HAS_DIGIT.test(segment)
}
