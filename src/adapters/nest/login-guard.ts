import { passRequest } from '../../http/request-steps.js'
import { routePattern } from '../../keys/by-route.js'
import type { MiddlewareLimiter } from '../../limiter/limiter.js'
import { guardSteps, type LoginControls } from '../../login/guard-steps.js'
import type { LoginOptions } from '../../login/options.js'
import type { ServerTypes } from '../../util/framework-types.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { runSteps } from './guard.js'
import { guardsOnly } from './metadata.js'
import { type ExceptionOptions, splitException } from './options.js'
import { type PlatformResponse, platformWriter } from './response-writer.js'
import type { ExecutionContext, NestRequest } from './types.js'

/** The options of `loginGuard`. Only `field` or `account` is required. */
export interface LoginGuardOptions<Req extends object = NestRequest, Res = unknown>
  extends LoginOptions<ServerTypes<Req, Res>>,
    ExceptionOptions {}

/** A login guard for `@UseGuards`. Several handlers behind one guard share its limits. */
export interface LoginGuard<Req extends object = NestRequest> extends LoginControls<Req> {
  readonly limiter: MiddlewareLimiter<Req>
  canActivate(context: ExecutionContext): MaybePromise<boolean>
}

/**
 * Creates a guard for `@UseGuards` that stops password guessing without locking out real users, as
 * `loginGuard` of `headgate` does.
 *
 * - **Success.** A status below 300 in response to a POST to `path` is a success, unless `succeeded`,
 *   `failureRedirect` or `reportSuccess` says otherwise. Without `path`, a POST to the one handler with the
 *   guard can succeed, but in each process only once that handler has thrown an `UnauthorizedException`.
 *   Failures in a row then do not count.
 * - **Denials.** `RateLimitFilter` responds to denied attempts. `RateLimitModule` provides it.
 * - **HTTP only.** The guard throws an error for GraphQL and WebSockets, because they have no status that
 *   says whether a login succeeded.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import { Controller, Post, UnauthorizedException, UseGuards } from '@nestjs/common'
 * import { loginGuard } from 'headgate/nest'
 *
 * @Controller('login')
 * export class LoginController {
 *   @Post()
 *   @UseGuards(loginGuard({ field: 'username', path: '/login' }))
 *   login() {
 *     throw new UnauthorizedException() // your check
 *   }
 * }
 * ```
 */
export function loginGuard<Req extends object = NestRequest, Res = unknown>(
  options: LoginGuardOptions<Req, Res>,
): LoginGuard<Req> {
  const { exception, others } = splitException('loginGuard', options)
  /** The requests whose handler the guard is before, and before no other one of its class. */
  const ofOneHandler = new WeakSet<Req>()
  // Nest shows no other class: a handler of one may have the guard also.
  const routeOf = (req: Req) => ({ path: routePattern(req), isOnly: ofOneHandler.has(req) && undefined })
  const settings = others as LoginOptions<ServerTypes<Req, PlatformResponse>>
  const { steps, controls } = guardSteps(settings, platformWriter, routeOf)
  const pass = (req: Req, res: PlatformResponse) => passRequest(steps, req, res, undefined)
  const guard: LoginGuard<Req> = {
    ...controls,
    canActivate(context) {
      if (context.getType() !== 'http') throw new Error(HTTP_ONLY)
      const [req, res] = context.getArgs<[Req, PlatformResponse]>()
      if (guardsOnly(guard, context.getHandler(), context.getClass())) ofOneHandler.add(req)
      return runSteps(pass, { req, res }, exception && ((thrown) => exception(thrown, context)))
    },
  }
  return guard
}

const HTTP_ONLY =
  'loginGuard: it works only with HTTP, whose status tells successes from failures. ' +
  "For GraphQL and WebSockets, use @RateLimit({ key: byField('username'), … })."
