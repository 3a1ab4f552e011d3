import type { ServerResponse } from 'node:http'
import { isClosed } from '../http/respond.js'
import { isPromise } from '../util/maybe-promise.js'
import { show } from '../util/validate.js'
import { beforeHeaders } from './before-headers.js'

/** Returns whether a response whose headers are about to be sent means that somebody logged in. */
export type SuccessTest<Req, Res> = (req: Req, res: Res) => boolean

/** What an attempt came to. `'error'` = the server failed (5xx). */
export type Outcome = 'success' | 'failure' | 'error'

/** Like `reportSuccess` and `reportFailure` of the guard. Has no effect once the attempt has its outcome. */
export type ReportOutcome = (outcome: 'success' | 'failure') => void

/**
 * Calls `settle` once with the outcome of an attempt: the reported one, or else what `readOutcome` returns,
 * when the headers of the response are about to be sent. Where the connection ends before, that is a
 * failure, so that hanging up avoids no limit.
 */
export function onOutcome(
  res: ServerResponse,
  readOutcome: () => Outcome,
  settle: (outcome: Outcome) => void,
): ReportOutcome {
  let isSettled = false
  let reported: 'success' | 'failure' | undefined

  function end(read: () => Outcome): void {
    if (isSettled) return
    isSettled = true
    settle(reported ?? read())
  }

  if (isClosed(res)) end(() => 'failure') // while the store decided
  beforeHeaders(res, () => end(readOutcome))
  res.once('close', () => end(() => 'failure'))

  return function report(outcome) {
    if (!res.headersSent) reported = outcome
    else throw new Error('loginGuard: the headers were sent before the report. Report before res.send.')
  }
}

/** Returns the outcome by `succeeded`. Throws what that throws, or a `TypeError` unless it is a boolean. */
export function outcomeOf<Req, Res extends ServerResponse>(
  req: Req,
  res: Res,
  succeeded: SuccessTest<Req, Res>,
): Outcome {
  const result: unknown = succeeded(req, res)
  if (typeof result === 'boolean') return result ? 'success' : res.statusCode >= 500 ? 'error' : 'failure'
  if (isPromise(result)) result.then(undefined, () => undefined) // headers cannot wait for it
  const must = 'true or false, and not a promise'
  throw new TypeError(`loginGuard: succeeded must return ${must}, got ${show(result)}.`)
}
