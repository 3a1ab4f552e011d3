import type { Context } from 'hono'
import type { OverloadGuardOptions } from '../../overload/options.js'
import { type OverloadControls, overloadSteps } from '../../overload/overload-steps.js'
import type { Exchange } from '../fetch/exchange.js'
import { exchangeOverloadOptions } from '../fetch/exchange-options.js'
import { limitOf } from '../fetch/limit.js'
import { overloadWriterFor } from '../fetch/overload-guard.js'
import { cachedBody, type HonoInfo, subjectOf } from './context.js'
import { denialResponder, type HonoTypes, middlewareOf, type RateLimitMiddleware } from './rate-limit.js'
import { honoWriter } from './response-writer.js'

/** Hono middleware that guards a server against too many requests at once. */
export interface OverloadGuard<Ctx extends Context = Context>
  extends RateLimitMiddleware<Ctx>,
    OverloadControls<Ctx> {}

/**
 * Creates Hono middleware that protects a server from too many requests at once, as `overloadGuard` of
 * `headgate` does: it finds how many may run, and denies the rest with 503.
 *
 * Mount it before all other middleware. A request has its place until its handler has returned a response.
 * Latencies are compared by method and route.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import { overloadGuard } from 'headgate/hono'
 * import { Hono } from 'hono'
 *
 * const app = new Hono()
 * app.use(overloadGuard({ priority: (c) => (c.req.path === '/pay' ? 'critical' : 'default') }))
 * app.get('/', (c) => c.text('hello'))
 * export default app
 * ```
 */
export function overloadGuard<Ctx extends Context = Context>(
  options: OverloadGuardOptions<HonoTypes<Ctx>> = {},
): OverloadGuard<Ctx> {
  const writer = overloadWriterFor(honoWriter)
  const { steps, controls } = overloadSteps<Ctx, Exchange>(exchangeOverloadOptions(options), writer)
  const limit = limitOf<HonoInfo<Ctx>, Ctx>(steps, denialResponder(options), subjectOf)
  return Object.assign(middlewareOf(steps.owner, limit, cachedBody), controls)
}
