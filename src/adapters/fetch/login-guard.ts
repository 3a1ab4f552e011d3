import { guardSteps, type LoginControls } from '../../login/guard-steps.js'
import type { LoginGuardOptions } from '../../login/options.js'
import { noRoute } from '../../login/place.js'
import { type Exchange, exchangeOf } from './exchange.js'
import { exchangeGuardOptions } from './exchange-options.js'
import { checkCall, type RateLimit, withHandle } from './handle.js'
import { limitOf } from './limit.js'
import type { FetchInfo, FetchSubject, FetchTypes } from './options.js'
import { fetchWriter, loginWriterOver } from './response-writer.js'

/** The methods and events of a login guard, for what its callbacks are called with. */
type Controls<Info> = LoginControls<FetchSubject<Info>>

/** A guard of a login. Several routes behind one guard share its limits. */
export interface LoginGuard<Info extends FetchInfo = FetchInfo>
  extends RateLimit<Info>,
    Pick<Controls<Info>, 'events' | 'accountId' | 'describe'> {
  /**
   * Reports that an attempt is a success, whatever its status is and `succeeded` returns. Call it before
   * `finish`, and so within the `next` of `handle`. Otherwise it throws an `Error`. The last report takes
   * effect.
   *
   * It has no effect on a request that this guard has not allowed as an attempt, such as a clone, or whose
   * client has hung up.
   */
  reportSuccess(request: Request): void
  /**
   * Reports that an attempt is a failure, as `reportSuccess` does for a success. It counts as a failure in a
   * row even if the status is a 5xx.
   */
  reportFailure(request: Request): void
}

/**
 * Creates a guard that stops password guessing without locking out real users, as `loginGuard` of `headgate`
 * does. It reads the account from `info.body`.
 *
 * A status below 300 in response to a POST to `path` is a success, unless `succeeded`, `failureRedirect` or
 * `reportSuccess` says otherwise. If you do not pass the response to `finish`, the attempt stays charged as
 * a failure.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import { loginGuard } from 'headgate/fetch'
 *
 * const guard = loginGuard({ field: 'username', path: '/login' })
 * export async function POST(request: Request): Promise<Response> {
 *   const ip = request.headers.get('x-real-ip')
 *   const body: unknown = await request.clone().json()
 *   const next = () => new Response('Wrong password', { status: 401 }) // your check
 *   return guard.handle(request, { ip, body }, next)
 * }
 * ```
 */
export function loginGuard<Info extends FetchInfo = FetchInfo>(
  options: LoginGuardOptions<FetchTypes<FetchSubject<Info>>>,
): LoginGuard<Info> {
  const { steps, controls } = guardSteps<FetchSubject<Info>, Exchange>(
    exchangeGuardOptions(options),
    loginWriterOver(fetchWriter),
    noRoute,
  )
  const reporter = (report: Controls<Info>['reportSuccess']) => (request: Request) => {
    const exchange = exchangeOf<Info>(request)
    if (exchange !== undefined) report(exchange.subject)
  }
  const { onDenied } = options
  const limit = limitOf<Info, FetchSubject<Info>>(steps, onDenied, ({ subject }) => subject, checkCall)
  return Object.assign(withHandle(steps.owner, limit), controls, {
    reportSuccess: reporter(controls.reportSuccess),
    reportFailure: reporter(controls.reportFailure),
  })
}
