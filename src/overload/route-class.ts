import { routePattern } from '../keys/by-route.js'
import { asRequest } from '../keys/request.js'

/** The names of the two classes of a route: of requests that were served, and of those that failed. */
export interface ClassNames {
  readonly served: string
  readonly failed: string
}

/** Of routes of frameworks. Beyond, a name is made for each request. */
const MAX_ROUTES = 1000

/**
 * So many segments have classes, which leaves others of the 500 to routes. The first ones have them at once.
 */
const MAX_SEGMENTS = 40
const FIRST_SEGMENTS = 20

/** The others have them after so many requests, among those of so many unknown segments. */
const MIN_SEEN = 10
const MAX_UNKNOWN = 1000

/** Longer segments are no routes. */
const MAX_SEGMENT_LENGTH = 64

/** A pattern that every path matches, as frameworks write it: `*`, `/*`, `/*path`, `/{*path}`, `(.*)`. */
const CATCH_ALL = /^\/?[{(]?\/?\.?\*/

/**
 * The classes of routes by which a guard compares latencies: the method, the route, and whether the status
 * is an error. Errors are mostly faster than what they replace. If no framework tells the route, the first
 * segment of the path takes its place.
 *
 * Clients can invent segments. None gets a class by failing, and known classes stay. All other requests of a
 * method share one.
 */
export class RouteClasses {
  /** By method, and then by route or segment, so that a request does not have to join names. */
  readonly #names = new Map<string, Map<string, ClassNames>>()
  readonly #seen = new Map<string, number>()
  #routes = 0
  #segments = 0

  /** Returns the classes of the route of a request, at the first byte of its response. */
  of(req: unknown, status: number): ClassNames {
    const { method } = asRequest(req)
    const verb = typeof method === 'string' ? method : ''
    return this.#namesOf(verb, req, status) ?? { served: verb, failed: `${verb} failed` }
  }

  #namesOf(verb: string, req: unknown, status: number): ClassNames | undefined {
    const ofVerb = this.#ofVerb(verb)
    const route = routeOf(req)
    const known = ofVerb.get(route)
    if (known !== undefined) return known
    if (route === '' || CATCH_ALL.test(route)) return this.#ofSegment(ofVerb, verb, segmentOf(req), status)
    const names = namesOf(verb, route)
    if (this.#routes < MAX_ROUTES) {
      this.#routes++
      ofVerb.set(route, names)
    }
    return names
  }

  #ofSegment(
    ofVerb: Map<string, ClassNames>,
    verb: string,
    segment: string | undefined,
    status: number,
  ): ClassNames | undefined {
    if (segment === undefined) return undefined
    const known = ofVerb.get(segment)
    if (known !== undefined || status >= 400 || this.#segments >= MAX_SEGMENTS) return known
    const names = namesOf(verb, segment)
    if (this.#segments >= FIRST_SEGMENTS && this.#countSeen(names.served) < MIN_SEEN) return undefined
    this.#segments++
    this.#seen.delete(names.served)
    ofVerb.set(segment, names)
    return names
  }

  #countSeen(name: string): number {
    const count = (this.#seen.get(name) ?? 0) + 1
    if (this.#seen.size >= MAX_UNKNOWN) this.#seen.clear()
    this.#seen.set(name, count)
    return count
  }

  #ofVerb(verb: string): Map<string, ClassNames> {
    let ofVerb = this.#names.get(verb)
    if (ofVerb !== undefined) return ofVerb
    ofVerb = new Map()
    if (this.#names.size < MAX_ROUTES) this.#names.set(verb, ofVerb)
    return ofVerb
  }
}

function namesOf(verb: string, route: string): ClassNames {
  return { served: `${verb} ${route}`, failed: `${verb} failed ${route}` }
}

/** Returns the pattern of the route, with its mount path; an empty text if no framework tells it. */
function routeOf(req: unknown): string {
  const pattern = routePattern(req)
  const request = asRequest(req)
  const { baseUrl } = request
  const mount = typeof baseUrl === 'string' ? baseUrl : ''
  if (typeof pattern === 'string' && pattern !== '') return mount === '' ? pattern : mount + pattern
  return request.originalUrl === undefined ? mount : '' // that of a server of Fetch, which has no mount path
}

/** Returns the first segment of a path, as `/users` of `/users/7?a=b`. */
function segmentOf(req: unknown): string | undefined {
  const { originalUrl, url = '' } = asRequest(req)
  const path = originalUrl ?? url
  if (typeof path !== 'string' || path.charCodeAt(0) !== SLASH) return undefined
  let end = 1
  while (end < path.length && !ENDS.has(path.charCodeAt(end))) end++
  return end > MAX_SEGMENT_LENGTH ? undefined : path.slice(0, end)
}

const SLASH = 0x2f
const ENDS = new Set(Array.from('/?#;', (each) => each.charCodeAt(0)))
