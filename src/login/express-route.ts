import { routePattern } from '../keys/by-route.js'
import { asRequest } from '../keys/request.js'
import { fieldsOf } from '../util/values.js'

/** What Express keeps for each handler: in an application or a router, and in a route. */
interface Layer {
  /** A handler, or a router, which is a function with a stack. */
  readonly handle?: unknown
  readonly route?: Stack & { readonly path?: unknown }
}

interface Stack {
  readonly stack?: readonly Layer[]
}

/**
 * Returns the pattern of the route of Express that a handler is part of. Returns `undefined` if the handler
 * is also elsewhere in the application: in a second route, or before routing (`app.use`); or if the
 * application is mounted in another one, which may have the handler elsewhere. Express sets the route of a
 * request and leaves it there for later middleware, so the route itself must have the handler.
 */
export function expressRoute(req: unknown, handler: unknown): unknown {
  const { app, route, baseUrl } = asRequest(req)
  if (!hasHandler(route, handler)) return undefined
  // In Express 4, reading `router` throws an error.
  const application = fieldsOf(app)
  const router = application._router ?? application.router
  // A router that has the application sets no `parent`, but a path.
  const isMounted = baseUrl !== '' && layersOf(router).some((layer) => layer.route === route)
  if (isMounted || application.parent !== undefined) return undefined
  const mounts = mountsOf(handler, router)
  return mounts.size > 1 ? undefined : routePattern(req)
}

/** Returns where a handler is: each route by its router and its pattern, and each `use` by its layer. */
function mountsOf(handler: unknown, router: unknown, seen = new Set<unknown>()): Set<unknown> {
  const mounts = new Set<unknown>()
  if (seen.has(router)) return mounts
  seen.add(router)
  const patterns = new Set<unknown>()
  for (const layer of layersOf(router)) {
    if (layer.route === undefined) {
      if (layer.handle === handler) mounts.add(layer)
      for (const mount of mountsOf(handler, layer.handle, seen)) mounts.add(mount)
    } else if (hasHandler(layer.route, handler) && !patterns.has(layer.route.path)) {
      patterns.add(layer.route.path)
      mounts.add(layer)
    }
  }
  return mounts
}

function hasHandler(route: unknown, handler: unknown): boolean {
  return layersOf(route).some(({ handle }) => handle === handler)
}

function layersOf(holder: unknown): readonly Layer[] {
  const { stack } = fieldsOf(holder)
  return Array.isArray(stack) ? stack : []
}
