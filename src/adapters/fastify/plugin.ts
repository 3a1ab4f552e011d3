import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import { checkOptions } from '../../http/inherited-options.js'
import { LAST_RECORD } from '../../http/recorded-decision.js'
import type { MiddlewareLimiter } from '../../limiter/limiter.js'
import { callback } from '../../options/option-table.js'
import { choice, wrongOption } from '../../util/validate.js'
import { hasMethods } from '../../util/values.js'
import { hookFrom, type RateLimitHook, type RateLimitHookOptions } from './hook.js'
import { isOwnLimit, ownOptions, type Route } from './own-options.js'

/** The options of a single route, as `config: { rateLimit: { … } }`. */
export type RouteRateLimitOptions = RateLimitHookOptions & {
  /**
   * When requests are charged. Default `'onRequest'`, before the body is read. Write `'preValidation'` if a
   * key or a cost reads the body, and `'preHandler'` if it reads what other hooks set, such as a user. In
   * `preHandler`, requests are charged after the route's own hooks, and in the others before them.
   */
  hook?: 'onRequest' | 'preValidation' | 'preHandler'
}

/** The options of `rateLimit`. Routes may override them in their `config`. */
export type RateLimitPluginOptions = RouteRateLimitOptions & {
  /**
   * Whether one shared limiter covers routes without their own options, and requests that match no route.
   * Default `true`. With `false`, these options are only defaults for the routes that have their own.
   */
  global?: boolean
}

const readHook = choice('onRequest', 'preValidation', 'preHandler')

/**
 * The rate limit plugin for Fastify 4 and 5. One shared limiter covers all routes, with two exceptions.
 * Routes with options in `config.rateLimit` have their own limiter, and routes where it is `false` have
 * none.
 *
 * A denied request gets 429 with `Retry-After`. The decision is at `request.rateLimit`, and the limiters are
 * at `app.rateLimiters`. They close with the application.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 * import { rateLimit } from 'headgate/fastify'
 *
 * const app = fastify()
 * await app.register(rateLimit, { limit: 100, window: '1m' })
 * app.get('/', () => 'hello')
 * app.post('/login', { config: { rateLimit: { limit: 5, window: '1m' } } }, () => 'welcome')
 * await app.listen({ port: 3000 })
 * ```
 */
export const rateLimit: FastifyPluginAsync<RateLimitPluginOptions> = Object.assign(plugin, {
  [Symbol.for('skip-override')]: true, // adds its hooks to the instance that registers it
  [Symbol.for('fastify.display-name')]: 'headgate',
  [Symbol.for('plugin-meta')]: { name: 'headgate', fastify: '4.x || 5.x' },
})

async function plugin(app: FastifyInstance, options: RateLimitPluginOptions): Promise<void> {
  if (!hasMethods(app, 'register', 'addHook')) throw new TypeError(NOT_REGISTERED)
  if (app.hasDecorator('rateLimiters')) throw new TypeError(REGISTERED_TWICE)
  const { global = true, hook = 'onRequest', ...shared } = options
  const limiters: MiddlewareLimiter<FastifyRequest>[] = []
  const createHook = (owner: string, given: RateLimitHookOptions): RateLimitHook => {
    const limit = hookFrom(owner, given)
    limiters.push(limit.limiter)
    return limit
  }
  const at = readHook('rateLimit', 'hook', hook)
  if (typeof global !== 'boolean') throw wrongOption('rateLimit', 'global', 'true or false', global)
  if (!global) checkOptions('rateLimit', shared, { onDenied: callback }, {})
  app.decorateRequest('rateLimit').decorateRequest(LAST_RECORD).decorate('rateLimiters', limiters)
  const limitOthers = global ? createHook('rateLimit', shared) : undefined
  const limits = new WeakMap<object, RouteLimit>()
  app.addHook('onRoute', (route) => limitRoute(route, { hook: at, shared, limits, createHook, limitOthers }))
  app.addHook(at, limitOtherRoutes(limitOthers, limits))
  app.addHook('onClose', async () => {
    await Promise.all(limiters.map((limiter) => limiter.close()))
  })
}

/** The limit of a route, which is spelled `GET /path`. */
interface RouteLimit {
  readonly route: string
  readonly limit: RateLimitHook
}

interface Plugin {
  readonly hook: NonNullable<RouteRateLimitOptions['hook']>
  readonly shared: RateLimitHookOptions
  /** By their options in the `config` of routes; of several routes with the same object, the last one's. */
  readonly limits: WeakMap<object, RouteLimit>
  createHook(owner: string, options: RateLimitHookOptions): RateLimitHook
  /** Limits routes without their own options, if the plugin is global. */
  readonly limitOthers: RateLimitHook | undefined
}

/** Marks the configuration of a route that has the shared limit among its own hooks. */
const HAS_SHARED_LIMIT = Symbol('headgate.hasSharedLimit')

interface MarkedConfig {
  readonly [HAS_SHARED_LIMIT]?: true
}

/** Adds the limit of a route to the route's own hooks, unless the hook for all routes applies it. */
function limitRoute(route: Route, { hook, shared, limits, createHook, limitOthers }: Plugin): void {
  const own = route.config?.rateLimit
  const owner = `rateLimit of ${[route.method].flat().join(', ')} ${route.url}`
  if (!isOwnLimit(owner, own)) {
    if (own === false || hook !== 'preHandler' || limitOthers === undefined) return
    const mark: MarkedConfig = { [HAS_SHARED_LIMIT]: true }
    route.config = { ...route.config, ...mark }
    addHook(route, hook, limitOthers)
    return
  }
  const at = readHook(owner, 'hook', own.hook ?? hook)
  // A HEAD route that Fastify adds to a GET route comes right after it, with the same options.
  const previous = route.method === 'HEAD' ? limits.get(own) : undefined
  const limitOfGet = previous?.route === `GET ${route.url}` ? previous.limit : undefined
  const limit = limitOfGet ?? createHook(owner, ownOptions(shared, own, route))
  limits.set(own, { route: `${route.method} ${route.url}`, limit })
  addHook(route, at, limit)
}

/**
 * Adds a limit to a route's hooks: a `preHandler` limit last, because other hooks may set a user, others
 * first.
 */
function addHook(route: Route, at: Plugin['hook'], limit: RateLimitHook): void {
  const hooks = [route[at] ?? []].flat()
  route[at] = at === 'preHandler' ? [...hooks, limit] : [limit, ...hooks]
}

/** Creates the hook for all routes. It limits those that have no limit among their own hooks. */
function limitOtherRoutes(limitOthers: RateLimitHook | undefined, limits: WeakMap<object, RouteLimit>) {
  return (request: FastifyRequest, reply: FastifyReply, next: HookHandlerDoneFunction): void => {
    const { rateLimit: own, [HAS_SHARED_LIMIT]: isLimitedLater }: MarkedConfig & FastifyContextConfig =
      request.routeOptions.config
    if (own === undefined && limitOthers !== undefined && !isLimitedLater) limitOthers(request, reply, next)
    else if (own && !limits.has(own)) next(new Error(TOO_EARLY))
    else next()
  }
}

const REGISTERED_TWICE =
  'rateLimit: the plugin is already registered on this application. For several limits, write ' +
  'limits: [{ limit, window }, …]. For single routes, write config.rateLimit or use rateLimitHook.'

const NOT_REGISTERED =
  'rateLimit: this is a Fastify plugin, but it was called without an application. Write ' +
  "app.register(rateLimit, { limit: 100, window: '1m' }), or use rateLimitHook for single routes."

const TOO_EARLY =
  'headgate: this route has config.rateLimit, but was declared before the plugin loaded. Write ' +
  'await app.register(rateLimit, …) before the routes, or declare the routes in a plugin after it.'
