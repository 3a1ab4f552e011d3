import { routePattern } from '../keys/by-route.js'
import { asRequest } from '../keys/request.js'

/** Names of classes, so that a request does not have to join them: by method, then by status and route. */
const names = new Map<string, Map<string, string>>()
const MAX_NAMES = 1000

/**
 * Returns the class of routes of a request at the first byte of its response: its method, its route if the
 * framework knows it, and whether the status is an error. Errors are mostly faster than what they replace.
 */
export function routeClassOf(req: unknown, status: number): string {
  const { method, baseUrl } = asRequest(req)
  const pattern = routePattern(req)
  const route = typeof pattern === 'string' ? pattern : ''
  const mount = route !== '' && typeof baseUrl === 'string' ? baseUrl : ''
  const verb = typeof method === 'string' ? method : ''
  return joined(status < 400 ? verb : `${verb} failed`, mount === '' ? route : mount + route)
}

function joined(start: string, route: string): string {
  if (route === '') return start
  let ofStart = names.get(start)
  if (ofStart === undefined) {
    ofStart = new Map()
    if (names.size < MAX_NAMES) names.set(start, ofStart)
  }
  const known = ofStart.get(route)
  if (known !== undefined) return known
  const name = `${start} ${route}`
  if (ofStart.size < MAX_NAMES) ofStart.set(route, name)
  return name
}
