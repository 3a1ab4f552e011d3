import type { LoginWriter } from '../http/response-writer.js'
import { isPromise } from '../util/maybe-promise.js'
import { show } from '../util/validate.js'
import { hasSafeMethod, UNHANDLED } from './place.js'

/**
 * Returns whether a response whose headers are about to be sent means that the login succeeded.
 * @inline
 */
export type SuccessTest<Req, Res> = (req: Req, res: Res) => boolean

/**
 * What an attempt came to. `'error'` = the server failed (5xx). `'none'` = no password was checked, as far
 * as the guard can know: the attempt gets its own units back, and nothing else changes.
 */
export type AttemptOutcome = 'success' | 'failure' | 'error' | 'none'

/** How an attempt ends. Refers to no response: see `Attempt`. */
export interface Ending {
  reported: 'success' | 'failure' | undefined
  isSettled: boolean
  areHeadersSent: boolean
}

/**
 * Calls `settle` once with the outcome of an attempt: the reported one, or else what `readOutcome` returns,
 * when the headers of the response are about to be sent. Where the connection ends before, that is a
 * failure, so that hanging up avoids no limit.
 */
export function onOutcome<Res>(
  writer: LoginWriter<Res>,
  res: Res,
  readOutcome: () => AttemptOutcome,
  settle: (outcome: AttemptOutcome) => unknown,
): Ending {
  const ending: Ending = { reported: undefined, isSettled: false, areHeadersSent: writer.areHeadersSent(res) }

  const stopListening = writer.onceAborted(res, () => {
    if (ending.isSettled) return
    ending.isSettled = true
    ending.areHeadersSent = writer.areHeadersSent(res)
    settle(ending.reported ?? 'failure')
  })
  writer.beforeHeaders(res, () => {
    stopListening()
    ending.areHeadersSent = true
    if (ending.isSettled) return undefined
    ending.isSettled = true
    return settle(ending.reported ?? readOutcome())
  })
  return ending
}

/** Reports how an attempt ends, as `reportSuccess` and `reportFailure` of the guard do. */
export function report(ending: Ending | undefined, outcome: 'success' | 'failure'): void {
  if (ending === undefined) return
  if (ending.areHeadersSent)
    throw new Error(
      'loginGuard: the response headers were sent before the outcome was reported. Report it before you respond.',
    )
  ending.reported = outcome
}

/**
 * Returns the outcome of a response with a status. `succeeded` is what a test of the response returned
 * (`undefined` = the response does not say). A success counts only at the login. A wrong password is a
 * failure for any method, because a handler may check passwords for all of them.
 */
export function outcomeOf(
  succeeded: boolean | undefined,
  isLogin: boolean,
  req: unknown,
  status: number,
): AttemptOutcome {
  if (succeeded === undefined) return 'none'
  if (succeeded) return isLogin ? 'success' : 'none'
  if (hasSafeMethod(req) && UNHANDLED.includes(status)) return 'none'
  return status >= 500 ? 'error' : 'failure'
}

/** Returns the result of the option `succeeded`. Throws a `TypeError` unless it is a boolean. */
export function checkResult(result: unknown): boolean {
  if (typeof result === 'boolean') return result
  if (isPromise(result)) result.then(undefined, () => undefined) // headers cannot wait for it
  const must = 'true or false, not a promise'
  throw new TypeError(`loginGuard: succeeded must return ${must}, got ${show(result)}.`)
}
