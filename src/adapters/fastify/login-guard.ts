import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { routePattern } from '../../keys/by-route.js'
import { guardSteps, type LoginControls } from '../../login/guard-steps.js'
import type { LoginGuardOptions } from '../../login/options.js'
import type { GuardRoute } from '../../login/place.js'
import { type FastifyTypes, hookOf, type RateLimitHook } from './hook.js'
import { fastifyWriter } from './response-writer.js'

/** A hook that guards a login. Several routes behind one guard share its limits. */
export interface LoginGuard extends RateLimitHook, LoginControls<FastifyRequest> {}

/**
 * Creates a `preHandler` hook that stops password guessing without locking out real users, as `loginGuard`
 * of `headgate` does.
 *
 * A status below 300 is a success where the password is checked, unless `succeeded`, `failureRedirect` or
 * `reportSuccess` says otherwise. That is a POST to the one route with the guard, or to `path`.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 * import { loginGuard } from 'headgate/fastify'
 *
 * const app = fastify()
 * const guard = loginGuard({ field: 'username' })
 * app.post('/login', { preHandler: guard }, (_request, reply) => {
 *   reply.code(401).send('Wrong name or password') // your check
 * })
 * await app.listen({ port: 3000 })
 * ```
 */
export function loginGuard(options: LoginGuardOptions<FastifyTypes>): LoginGuard {
  const routeOf = (request: FastifyRequest): GuardRoute => {
    const path = routePattern(request)
    return { path, isOnly: countHooks(request.server) === countVariants(request, path) || undefined }
  }
  const { steps, controls } = guardSteps<FastifyRequest, FastifyReply>(options, fastifyWriter, routeOf)
  const guard = Object.assign(hookOf(steps, options.onDenied), controls)
  const countHooks = hookCounter(guard)
  return guard
}

/**
 * Returns how many routes Fastify has registered for one: below a `prefix`, it registers `post('/')` with a
 * trailing slash and without. Fastify 4.0 cannot tell, so there it is one.
 */
function countVariants({ server, method }: FastifyRequest, path: unknown): number {
  if (server.hasRoute === undefined) return 1
  const plain = String(path).replace(/\/$/, '')
  const urls = [plain, `${plain}/`].filter((url) => url !== '')
  return urls.filter((url) => server.hasRoute({ method, url } as Parameters<typeof server.hasRoute>[0]))
    .length
}

/**
 * Creates a function that returns how many routes of an application have a hook. A request shows its route,
 * but not its hooks, nor whether `app.addHook` put them before other routes. Fastify 4 and 5 bind each hook
 * once for each route when they start, so this counts the calls of `bind`. A wrapper of the hook hides it.
 */
function hookCounter(hook: RateLimitHook): (app: FastifyInstance) => number {
  const counts = new WeakMap<object, number>()
  const countOf = ({ server }: FastifyInstance) => counts.get(server) ?? 0
  hook.bind = (app: FastifyInstance) => {
    if (app?.server) counts.set(app.server, countOf(app) + 1)
    return Function.prototype.bind.call(hook, app)
  }
  return countOf
}
