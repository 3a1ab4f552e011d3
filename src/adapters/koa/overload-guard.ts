import type { Context, ExtendableContext, Response } from 'koa'
import { overloadWriterOver } from '../../overload/first-byte.js'
import type { OverloadGuardOptions } from '../../overload/options.js'
import { type OverloadControls, overloadSteps } from '../../overload/overload-steps.js'
import { koaWriter } from './context.js'
import { type KoaTypes, middlewareOf, type RateLimitMiddleware } from './rate-limit.js'

/** Koa middleware that guards a server against too many requests at once. */
export interface OverloadGuard<Ctx extends ExtendableContext = Context>
  extends RateLimitMiddleware<Ctx>,
    OverloadControls<Ctx> {}

/**
 * Creates Koa middleware that protects a server from too many requests at once, as `overloadGuard` of
 * `headgate` does: it finds how many may run, and denies the rest with 503.
 *
 * Mount it before all other middleware. A request has its place until the first byte of its response, which
 * Koa sends once all middleware is done. Latencies are compared by method, and by the matched route of
 * @koa/router.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import { overloadGuard } from 'headgate/koa'
 * import Koa from 'koa'
 *
 * const app = new Koa()
 * app.use(overloadGuard({ priority: (ctx) => (ctx.path === '/pay' ? 'critical' : 'default') }))
 * app.use((ctx) => {
 *   ctx.body = 'hello'
 * })
 * app.listen(3000)
 * ```
 */
export function overloadGuard<Ctx extends ExtendableContext = Context>(
  options: OverloadGuardOptions<KoaTypes<Ctx>> = {},
): OverloadGuard<Ctx> {
  const writer = overloadWriterOver(koaWriter, ({ res }: Response) => res)
  const { steps, controls } = overloadSteps<Ctx, Response>(options, writer)
  return Object.assign(
    middlewareOf(steps, options.onDenied, () => true),
    controls,
  )
}
