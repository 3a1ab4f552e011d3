import { routePattern } from '../keys/by-route.js'
import { asRequest } from '../keys/request.js'
import { fieldsOf } from '../util/values.js'
import { type GuardRoute, isGuard } from './place.js'

/** What Express keeps for each handler: in an application or a router, and in a route. */
interface Layer {
  /** A handler, or a router, which is a function with a stack. */
  readonly handle?: unknown
  readonly route?: Stack & { readonly path?: unknown }
}

interface Stack {
  readonly stack?: readonly Layer[]
}

type Guard = Parameters<typeof isGuard>[1]

/**
 * Returns the route of Express in which a guard runs. Express sets the route of a request and leaves it there
 * for later middleware, so that only the stacks of routes and routers show where the guard is. Those of other
 * applications are out of sight, if this one is mounted in another one.
 */
export function expressRoute(req: unknown, guard: Guard): GuardRoute {
  const { app, route, baseUrl } = asRequest(req)
  // In Express 4, reading `router` throws an error.
  const application = fieldsOf(app)
  const router = application._router ?? application.router
  const mounts = mountsOf(guard, router)
  const isHere = hasGuard(route, guard)
  // A router that has the application sets no `parent`, but a path.
  const isMounted = baseUrl !== '' && layersOf(router).some((layer) => layer.route === route)
  const isWhole = application.parent === undefined && !hasApplication(router)
  const seesAll = isHere && mounts.size === 1 && !isMounted && isWhole
  const isElsewhere = mounts.size > (isHere ? 1 : 0)
  const isOnly = isElsewhere ? false : seesAll || undefined
  return { path: routePattern(req), id: isOnly ? undefined : route, isOnly }
}

/** Returns where a guard is: each route by its router and its pattern, and each `use` by its layer. */
function mountsOf(guard: Guard, router: unknown, seen = new Set<unknown>()): Set<unknown> {
  const mounts = new Set<unknown>()
  if (seen.has(router)) return mounts
  seen.add(router)
  const patterns = new Set<unknown>()
  for (const layer of layersOf(router)) {
    if (layer.route === undefined) {
      if (isGuard(layer.handle, guard)) mounts.add(layer)
      for (const mount of mountsOf(guard, layer.handle, seen)) mounts.add(mount)
    } else if (hasGuard(layer.route, guard) && !patterns.has(layer.route.path)) {
      patterns.add(layer.route.path)
      mounts.add(layer)
    }
  }
  return mounts
}

/** Returns whether a router has another application, whose routes are out of sight. */
function hasApplication(router: unknown, seen = new Set<unknown>()): boolean {
  if (seen.has(router)) return false
  seen.add(router)
  return layersOf(router).some(({ handle }) => {
    const { name, mountpath } = fieldsOf(handle) // Express 4 and 5 wrap what `app.use(application)` is given
    return name === 'mounted_app' || mountpath !== undefined || hasApplication(handle, seen)
  })
}

function hasGuard(route: unknown, guard: Guard): boolean {
  return layersOf(route).some(({ handle }) => isGuard(handle, guard))
}

function layersOf(holder: unknown): readonly Layer[] {
  const { stack } = fieldsOf(holder)
  return Array.isArray(stack) ? stack : []
}
