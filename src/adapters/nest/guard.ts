import { catchMaybe, type MaybePromise, thenMaybe } from '../../util/maybe-promise.js'
import { wrongKind } from '../../util/validate.js'
import { isObject } from '../../util/values.js'
import { callOf, type HandlerCall } from './call.js'
import { RateLimitException } from './exception.js'
import type { RateLimiters } from './limiters.js'
import type { ExecutionContext } from './types.js'

/**
 * The guard that limits requests, GraphQL calls and WebSocket messages. The module applies it to every
 * handler, unless its option `global` is `false`. It does not limit messages of microservices.
 *
 * @example
 * ```ts
 * import { Controller, Get, UseGuards } from '@nestjs/common'
 * import { RateLimitGuard } from 'headgate/nest'
 *
 * @Controller('orders')
 * @UseGuards(RateLimitGuard) // with RateLimitModule.forRoot({ global: false, … })
 * export class OrdersController {
 *   @Get()
 *   list() {
 *     return []
 *   }
 * }
 * ```
 */
export class RateLimitGuard {
  readonly #limiters: RateLimiters

  constructor(limiters: RateLimiters) {
    this.#limiters = limiters
  }

  /**
   * Returns true for an allowed request. Throws a `RateLimitException`, or rejects with one, for a denied
   * request.
   */
  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const limit = this.#limiters.limitFor(context)
    if (limit === undefined) return true
    const call = callOf(context)
    if (call === undefined) return true
    const { exception } = limit
    return runSteps(limit.pass, call, exception && ((thrown) => exception(thrown, context)))
  }
}

/**
 * Decides a request, and throws what `replace` returns in place of a `RateLimitException`; that
 * itself if it returns `undefined`.
 */
export function runSteps<Req extends object, Res>(
  passes: (req: Req, res: Res) => MaybePromise<boolean>,
  { req, res }: HandlerCall<Req, Res>,
  replace: ((exception: RateLimitException) => unknown) | undefined,
): MaybePromise<boolean> {
  const pass = () => passes(req, res)
  if (replace === undefined) return pass()
  return catchMaybe(pass, (error) => {
    if (!(error instanceof RateLimitException)) throw error
    return thenMaybe(replace(error), (replaced) => {
      throw replaced === undefined ? error : checkException(replaced)
    })
  })
}

/** Returns the result of `exception`. Throws a `TypeError` if filters would not treat it as an exception. */
function checkException(value: unknown): object {
  if (isObject(value) && 'message' in value) return value
  const fix = 'Return new HttpException(body, 429). For a fixed body, use the option message.'
  throw wrongKind('headgate', 'the result of exception', 'an exception', value, fix)
}
