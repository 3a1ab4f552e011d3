import { guardSteps, type LoginControls, OWNER } from '../../login/guard-steps.js'
import type { LoginGuardOptions } from '../../login/options.js'
import { type Exchange, exchangeOf } from './exchange.js'
import { exchangeGuardOptions } from './exchange-options.js'
import { limitOf, type RateLimit } from './limit.js'
import type { FetchInfo, FetchSubject, FetchTypes } from './options.js'
import { fetchWriter } from './response-writer.js'

type Controls<Info> = LoginControls<FetchSubject<Info>>

/** A guard of a login. Several routes behind one guard share its limits. */
export interface LoginGuard<Info extends FetchInfo = FetchInfo>
  extends RateLimit<Info>,
    Pick<Controls<Info>, 'events' | 'accountId' | 'describe'> {
  /**
   * Reports that an attempt is a success, whatever its status is and `succeeded` returns. Must be called
   * before `finish`, and so within the `next` of `handle`, else it throws an `Error`; the last report takes
   * effect. Has no effect on a request that this guard has not allowed as an attempt, such as a clone, or
   * whose client has hung up.
   */
  reportSuccess(request: Request): void
  /** Like `reportSuccess`, for a failure. It counts as a failure in a row even if the status is a 5xx. */
  reportFailure(request: Request): void
}

/**
 * Creates a guard that stops password guessing and lets real users in, as `loginGuard` of `headgate` does.
 * It reads the account from `info.body`. A status below 300 in response to a POST to `path` is a success,
 * unless `succeeded`, `failureRedirect` or `reportSuccess` says otherwise. An attempt that is not passed to
 * `finish` stays charged as a failure.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 */
export function loginGuard<Info extends FetchInfo = FetchInfo>(
  options: LoginGuardOptions<FetchTypes<FetchSubject<Info>>>,
): LoginGuard<Info> {
  const { steps, controls } = guardSteps<FetchSubject<Info>, Exchange>(
    exchangeGuardOptions(options),
    fetchWriter,
    () => undefined,
  )
  const reporter = (report: Controls<Info>['reportSuccess']) => (request: Request) => {
    const exchange = exchangeOf<Info>(request)
    if (exchange !== undefined) report(exchange.subject)
  }
  const limit = limitOf<Info, FetchSubject<Info>>(OWNER, steps, options.onDenied, ({ subject }) => subject)
  return Object.assign(limit, controls, {
    reportSuccess: reporter(controls.reportSuccess),
    reportFailure: reporter(controls.reportFailure),
  })
}
