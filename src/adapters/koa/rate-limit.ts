import type { Context, ExtendableContext, Next, Response } from 'koa'
import { checkCaller } from '../../http/check-caller.js'
import type { Respond } from '../../http/deny-request.js'
import type { DenialOptions, RateLimitOptions } from '../../http/options.js'
import { asError } from '../../http/rate-limit.js'
import { decisionFor } from '../../http/recorded-decision.js'
import { passRequest, type RequestSteps, requestSteps } from '../../http/request-steps.js'
import { isOver } from '../../http/response-end.js'
import { isHolding } from '../../limiter/concurrency/held-by-decision.js'
import type { Decision } from '../../limiter/decision.js'
import type { MiddlewareLimiter } from '../../limiter/limiter.js'
import { guardSteps, type LoginControls } from '../../login/guard-steps.js'
import type { LoginGuardOptions } from '../../login/options.js'
import type { GuardRoute } from '../../login/place.js'
import type { ServerTypes } from '../../util/framework-types.js'
import { isPromise } from '../../util/maybe-promise.js'
import { fieldsOf, isObject } from '../../util/values.js'
import { koaRoute, koaWriter, prepareContext } from './context.js'

/** The types of Koa. Its middleware gets a context. */
export type KoaTypes<Ctx extends ExtendableContext = Context> = ServerTypes<
  Ctx,
  Response,
  [ctx: Ctx, next: Next]
>

/**
 * Koa middleware that `rateLimit` returns, with its limiter as a property. It fits applications with any
 * state and context.
 */
export interface RateLimitMiddleware<Ctx extends ExtendableContext = Context> {
  (ctx: ExtendableContext, next: Next): Promise<unknown>
  readonly limiter: MiddlewareLimiter<Ctx>
}

/** Koa middleware that guards a login. Several routes behind one guard share its limits. */
export interface LoginGuard<Ctx extends ExtendableContext = Context>
  extends RateLimitMiddleware<Ctx>,
    LoginControls<Ctx> {}

/**
 * Creates Koa middleware that limits the requests of each client.
 *
 * An allowed request goes on to the next middleware, which finds the decision at `ctx.rateLimit`. A denied
 * request gets a response in `ctx.status` and `ctx.body`:
 *
 * - 429 with `Retry-After` if it is over its limit,
 * - 403 if its IP address is in `block`,
 * - 503 if the store failed and `onStoreError` is `'deny'`.
 *
 * Keys read `ctx.ip`, `ctx.state.user`, `ctx.request.body`, and the route of @koa/router that matched.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import { rateLimit } from 'headgate/koa'
 * import Koa from 'koa'
 *
 * const app = new Koa()
 * app.use(rateLimit({ limit: 100, window: '1m' }))
 * app.use((ctx) => {
 *   ctx.body = 'hello'
 * })
 * app.listen(3000)
 * ```
 */
export function rateLimit<Ctx extends ExtendableContext = Context>(
  options: RateLimitOptions<KoaTypes<Ctx>>,
): RateLimitMiddleware<Ctx> {
  const steps = requestSteps<Ctx, Response>('rateLimit', options, koaWriter)
  return middlewareOf(steps, options.onDenied)
}

/**
 * Creates Koa middleware that stops password guessing without locking out real users, as `loginGuard` of
 * `headgate` does. Mount a body parser before it.
 *
 * A status below 300 is a success where the password is checked, unless `succeeded`, `failureRedirect` or
 * `reportSuccess` says otherwise. That is a POST to the route of the guard, or to `path`.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import Router from '@koa/router'
 * import { loginGuard } from 'headgate/koa'
 * import Koa from 'koa'
 *
 * const app = new Koa() // mount a body parser first
 * const router = new Router()
 * router.post('/login', loginGuard({ field: 'username' }), (ctx) => {
 *   ctx.status = 401 // your check
 * })
 * app.use(router.routes()).listen(3000)
 * ```
 */
export function loginGuard<Ctx extends ExtendableContext = Context>(
  options: LoginGuardOptions<KoaTypes<Ctx>>,
): LoginGuard<Ctx> {
  const routeOf = (ctx: Ctx): GuardRoute => koaRoute(ctx, guard)
  const { steps, controls } = guardSteps<Ctx, Response>(options, koaWriter, routeOf)
  const guard = Object.assign(middlewareOf(steps, options.onDenied), controls)
  return guard
}

/** Returns a `next` that first takes back the denial. */
function nextAfter(withdraw: () => void, next: Next): Next {
  return () => {
    withdraw()
    return next()
  }
}

/** Creates middleware that runs these steps. `holds` returns whether a request holds units or a place. */
export function middlewareOf<Ctx extends ExtendableContext>(
  steps: RequestSteps<Ctx, Response>,
  onDenied: DenialOptions<KoaTypes<Ctx>>['onDenied'],
  holds = (decision: Decision | undefined) => decision !== undefined && isHolding(decision),
): RateLimitMiddleware<Ctx> {
  const { owner, limiter } = steps
  let isChecked = false

  async function rateLimitMiddleware(context: ExtendableContext, next: Next): Promise<unknown> {
    if (!isChecked) isChecked = checkCaller(owner, '(ctx, next)', isObject(fieldsOf(context).response))
    const ctx = context as Ctx
    prepareContext(ctx)
    let passes: boolean
    try {
      const respond: Respond | undefined =
        onDenied && ((decision, withdraw) => onDenied(ctx, nextAfter(withdraw, next), decision))
      const isAllowed = passRequest(steps, ctx, ctx.response, respond)
      passes = isPromise(isAllowed) ? await isAllowed : isAllowed
    } catch (error) {
      throw asError(owner, error)
    }
    return passes ? passOn(ctx, next) : undefined
  }

  /** Koa ends no response whose client has left, so what the request holds is released here. */
  function passOn(ctx: Ctx, next: Next): Promise<unknown> {
    if (!holds(decisionFor(ctx, limiter))) return next()
    return next().finally(() => ctx.respond !== false && isOver(ctx.res) && ctx.res.end())
  }

  return Object.assign(rateLimitMiddleware, { limiter })
}
