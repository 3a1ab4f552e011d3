import { routePattern } from '../keys/by-route.js'
import { asRequest } from '../keys/request.js'
import { fieldsOf } from '../util/values.js'
import { type GuardRoute, isGuard, isLiteral } from './place.js'

/** What Express keeps for each handler: in an application or a router, and in a route. */
interface Layer {
  /** A handler, or a router, which is a function with a stack. */
  readonly handle?: unknown
  readonly route?: Stack & { readonly path?: unknown }
  /** In Express 4, the expression that matches the path of a layer. */
  readonly regexp?: RegExp & { readonly fast_slash?: boolean }
  /** In Express 5.3, its path or paths, as the application wrote them. */
  readonly rawPath?: unknown
  /** In Express 5, one matcher for each path of a layer. Those of a RegExp are called `regexpMatcher`. */
  readonly matchers?: readonly Matcher[]
}

/** Returns `false` if a path does not match, and else what does, with the parameters in it. */
type Matcher = (path: string) => false | { readonly path: string; readonly params: object }

interface Stack {
  readonly stack?: readonly Layer[]
}

type Guard = Parameters<typeof isGuard>[1]

/** A place in which a guard is mounted: whether all routers above it have one fixed path. */
interface Mount {
  readonly isFixed: boolean
}

/**
 * Returns the route of Express in which a guard runs. Express does not reset the route of a request for
 * later middleware, so only the stacks of routes and routers show where the guard is. If the application is
 * mounted in another one, the stacks of that one cannot be seen.
 *
 * A route below a parameter, such as `/:tenant`, is many places: the owner of an account at one tenant must
 * not clear the failures of the same name at another. Express ignores the case of mount paths.
 */
export function expressRoute(req: unknown, guard: Guard): GuardRoute {
  const { app, route, baseUrl } = asRequest(req)
  const mountPath = typeof baseUrl === 'string' ? baseUrl.toLowerCase() : ''
  const path = routePattern(req)
  // In Express 4, reading `router` throws an error.
  const application = fieldsOf(app)
  const router = application._router ?? application.router
  const mounts = mountsOf(guard, router, { path: String(baseUrl ?? ''), isFixed: true, routers: [] })
  const isHere = hasGuard(route, guard)
  // A router that has the application sets no `parent`, but a path.
  const isMounted = mountPath !== '' && layersOf(router).some((layer) => layer.route === route)
  const isWhole = application.parent === undefined && !hasApplication(router)
  const seesAll = isHere && mounts.length === 1 && !isMounted && isWhole
  const isElsewhere = mounts.length > (isHere ? 1 : 0)
  const isFixed = mounts.every((mount) => mount.isFixed) && isFixedApplication(app)
  return {
    path,
    id: `${mountPath}${String(path)}`,
    isOnly: isElsewhere || !isFixed ? false : seesAll || undefined,
  }
}

/** What is above a layer: its routers, whether their paths are fixed, and what is left of the mount path. */
interface Above {
  readonly routers: readonly unknown[]
  readonly isFixed: boolean
  readonly path: string
}

/** Returns where a guard is: each route by its router and its pattern, and each `use`, once for each mount. */
function mountsOf(guard: Guard, router: unknown, above: Above): Mount[] {
  const { routers, isFixed, path } = above
  if (routers.includes(router)) return []
  const mounts: Mount[] = []
  const patterns = new Set<unknown>()
  for (const layer of layersOf(router)) {
    if (layer.route === undefined) {
      if (isGuard(layer.handle, guard)) mounts.push({ isFixed })
      const [matched, isFixedHere] = matchOf(layer, path)
      const below = { routers: [...routers, router], isFixed: isFixed && isFixedHere, path: matched }
      mounts.push(...mountsOf(guard, layer.handle, below))
    } else if (hasGuard(layer.route, guard) && !patterns.has(layer.route.path)) {
      patterns.add(layer.route.path)
      mounts.push({ isFixed })
    }
  }
  return mounts
}

/** Matches the source of the expression that Express 4 makes of one path without parameters. */
const ONE_PATH = /^\^(?:\\[^a-z]|[^\\()[\]{}|*+?.^$])*\\\/\?\(\?=\\\/\|\$\)$/i

/** Returns what a layer leaves of a mount path, and whether it has one path without parameters. */
function matchOf({ regexp, rawPath, matchers = [] }: Layer, path: string): [rest: string, isFixed: boolean] {
  if (regexp !== undefined) return [path, regexp.fast_slash === true || ONE_PATH.test(regexp.source)]
  if (rawPath !== undefined) return [path, isOnePath(rawPath)]
  const [matcher] = matchers
  if (matcher === undefined || matchers.length > 1 || matcher.name === 'regexpMatcher') return [path, false]
  const match = matcher(path || '/')
  if (match === false) return [path, true] // on the way to other requests
  return [path.slice(match.path.length), Object.keys(match.params).length === 0]
}

function isOnePath(rawPath: unknown): boolean {
  const paths: readonly unknown[] = [rawPath].flat()
  return paths.length === 1 && (paths[0] === '' || isLiteral(paths[0]))
}

/** Returns whether an application is mounted at one path without parameters, or not at all. */
function isFixedApplication(app: unknown): boolean {
  const { parent, mountpath } = fieldsOf(app)
  return parent === undefined || (isLiteral(mountpath) && isFixedApplication(parent))
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
