import type { Context, Next } from 'hono'
import { checkCaller } from '../../http/check-caller.js'
import type { DenialOptions, RateLimitOptions } from '../../http/options.js'
import { requestSteps } from '../../http/request-steps.js'
import type { Decision } from '../../limiter/decision.js'
import type { MiddlewareLimiter } from '../../limiter/limiter.js'
import { guardSteps, type LoginControls, OWNER } from '../../login/guard-steps.js'
import type { LoginGuardOptions } from '../../login/options.js'
import { noRoute } from '../../login/place.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { fieldsOf, isObject } from '../../util/values.js'
import { exchangeOf } from '../fetch/exchange.js'
import { exchangeGuardOptions, exchangeOptions } from '../fetch/exchange-options.js'
import { failExchange } from '../fetch/finish.js'
import { type ExchangeLimit, limitOf } from '../fetch/limit.js'
import type { FetchTypes } from '../fetch/options.js'
import { cachedBody, type HonoInfo, infoOf, readBody, subjectOf } from './context.js'
import { honoLoginWriter, honoWriter } from './response-writer.js'

/** The types of Hono. Its handlers get a context and return the response. */
export type HonoTypes<Ctx extends Context = Context> = FetchTypes<Ctx>

/** Hono middleware that `rateLimit` returns, with its limiter as a property. */
export interface RateLimitMiddleware<Ctx extends Context = Context> {
  (c: Context, next: Next): Promise<Response | undefined>
  readonly limiter: MiddlewareLimiter<Ctx>
}

/** Hono middleware that guards a login. Several routes behind one guard share its limits. */
export interface LoginGuard<Ctx extends Context = Context>
  extends RateLimitMiddleware<Ctx>,
    LoginControls<Ctx> {}

/**
 * Creates Hono middleware that limits the requests of each client.
 *
 * An allowed request goes on to the next handler, which finds the decision at `c.get('rateLimit')`. A denied
 * request gets a response:
 *
 * - 429 with `Retry-After` if it is over its limit,
 * - 403 if its IP address is in `block`,
 * - 503 if the store failed and `onStoreError` is `'deny'`.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import { rateLimit } from 'headgate/hono'
 * import { Hono } from 'hono'
 *
 * const app = new Hono()
 * app.use(rateLimit({ limit: 100, window: '1m' }))
 * app.get('/', (c) => c.text('hello'))
 * export default app
 * ```
 */
export function rateLimit<Ctx extends Context = Context>(
  options: RateLimitOptions<HonoTypes<Ctx>>,
): RateLimitMiddleware<Ctx> {
  const steps = requestSteps('rateLimit', exchangeOptions(options), honoWriter)
  const limit = limitOf<HonoInfo<Ctx>, Ctx>(steps, denialResponder(options), subjectOf)
  return middlewareOf('rateLimit', limit, cachedBody)
}

/**
 * Creates Hono middleware that stops password guessing without locking out real users, as `loginGuard` of
 * `headgate` does. It reads the account from a JSON or form body.
 *
 * A status below 300 in response to a POST to `path` is a success, unless `succeeded`, `failureRedirect` or
 * `reportSuccess` says otherwise.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import { loginGuard } from 'headgate/hono'
 * import { Hono } from 'hono'
 *
 * const app = new Hono()
 * const guard = loginGuard({ field: 'username', path: '/login' })
 * app.post('/login', guard, async (c) => {
 *   const { password } = await c.req.parseBody()
 *   const isRight = password === 'engine' // your check
 *   return isRight ? c.text('Welcome') : c.text('Wrong name or password', 401)
 * })
 * ```
 */
export function loginGuard<Ctx extends Context = Context>(
  options: LoginGuardOptions<HonoTypes<Ctx>>,
): LoginGuard<Ctx> {
  const loginOptions = exchangeGuardOptions(options)
  const { steps, controls } = guardSteps(loginOptions, honoLoginWriter(), noRoute)
  const limit = limitOf<HonoInfo<Ctx>, Ctx>(steps, denialResponder(options), subjectOf)
  return Object.assign(middlewareOf(OWNER, limit, readBody), controls)
}

/** Returns an `onDenied` that finds the decision in the context. */
export function denialResponder<Ctx extends Context>({ onDenied }: DenialOptions<HonoTypes<Ctx>>) {
  if (onDenied === undefined) return undefined
  return (c: Ctx, decision: Decision) => {
    c.set('rateLimit', decision)
    return onDenied(c, decision)
  }
}

/** Creates the middleware of a limiter; `owner` is the function that errors name. */
export function middlewareOf<Ctx extends Context>(
  owner: string,
  limit: ExchangeLimit<HonoInfo<Ctx>, Ctx>,
  bodyOf: (c: Ctx) => MaybePromise<unknown>,
): RateLimitMiddleware<Ctx> {
  let isChecked = false

  async function rateLimitMiddleware(context: Context, next: Next): Promise<Response | undefined> {
    if (!isChecked) isChecked = checkCaller(owner, '(c, next)', isObject(fieldsOf(fieldsOf(context).req).raw))
    const c = context as Ctx
    const { raw } = c.req
    const denial = await limit(raw, infoOf(c, await bodyOf(c)))
    const decision = limit.decisionOf(raw)
    if (decision !== undefined) c.set('rateLimit', decision)
    if (denial !== undefined) {
      void c.res // Hono then adds the headers that were set before
      return denial
    }
    try {
      await next()
    } catch (error) {
      failExchange(exchangeOf(raw))
      throw error
    }
    // A handler may return a `Response` of the package undici, which is another class.
    const given = c.res instanceof Response ? c.res : new Response((c.res as Response).body, c.res)
    const response = limit.finish(raw, given)
    if (response === c.res) return undefined
    c.res = undefined // or Hono would put the old headers over the new ones
    c.res = response
    return undefined
  }

  return Object.assign(rateLimitMiddleware, { limiter: limit.limiter })
}
