import { passRequest } from '../../http/request-steps.js'
import type { MiddlewareLimiter } from '../../limiter/limiter.js'
import { overloadWriterOver } from '../../overload/first-byte.js'
import type { OverloadOptions } from '../../overload/options.js'
import { type OverloadControls, overloadSteps } from '../../overload/overload-steps.js'
import type { ServerTypes } from '../../util/framework-types.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { runSteps } from './guard.js'
import { type ExceptionOptions, splitException } from './options.js'
import { type PlatformResponse, platformWriter, rawOf } from './response-writer.js'
import type { ExecutionContext, NestRequest } from './types.js'

/** The options of `overloadGuard`. All have defaults. */
export interface OverloadGuardOptions<Req extends object = NestRequest, Res = unknown>
  extends OverloadOptions<ServerTypes<Req, Res>>,
    ExceptionOptions {}

/** An overload guard for `app.useGlobalGuards`. */
export interface OverloadGuard<Req extends object = NestRequest> extends OverloadControls<Req> {
  readonly limiter: MiddlewareLimiter<Req>
  canActivate(context: ExecutionContext): MaybePromise<boolean>
  /** Closes the guard. Nest calls it when the application shuts down, if the guard is a provider. */
  onApplicationShutdown(): Promise<void>
}

/**
 * Creates a guard that protects a server from too many requests at once, as `overloadGuard` of `headgate`
 * does: it finds how many may run, and denies the rest with 503.
 *
 * - **Place.** Nest calls guards after all middleware. On Express, `app.use(overloadGuard())` of `headgate`
 *   also guards what middleware does.
 * - **Denials.** `RateLimitFilter` responds to denied requests. `RateLimitModule` provides it. Without the
 *   module, write `app.useGlobalFilters(new RateLimitFilter())`.
 * - **HTTP only.** GraphQL calls and messages of WebSockets and microservices pass.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import { Module } from '@nestjs/common'
 * import { APP_GUARD } from '@nestjs/core'
 * import { overloadGuard, RateLimitModule } from 'headgate/nest'
 *
 * const guard = overloadGuard({ priority: ({ url }) => (url === '/pay' ? 'critical' : 'default') })
 *
 * @Module({
 *   imports: [RateLimitModule.forRoot({ limit: 100, window: '1m' })],
 *   providers: [{ provide: APP_GUARD, useValue: guard }],
 * })
 * export class AppModule {}
 * ```
 */
export function overloadGuard<Req extends object = NestRequest, Res = unknown>(
  options: OverloadGuardOptions<Req, Res> = {},
): OverloadGuard<Req> {
  const { exception, others } = splitException('overloadGuard', options)
  const settings = others as OverloadOptions<ServerTypes<Req, PlatformResponse>>
  const { steps, controls } = overloadSteps(settings, overloadWriterOver(platformWriter, rawOf))
  const pass = (req: Req, res: PlatformResponse) => passRequest(steps, req, res, undefined)
  return {
    ...controls,
    canActivate(context) {
      if (context.getType() !== 'http') return true
      const [req, res] = context.getArgs<[Req, PlatformResponse]>()
      return runSteps(pass, { req, res }, exception && ((thrown) => exception(thrown, context)))
    },
    onApplicationShutdown: () => controls.close(),
  }
}
