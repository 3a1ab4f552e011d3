import type { IncomingMessage, ServerResponse } from 'node:http'
import { isClosed } from '../http/respond.js'
import { isPromise } from '../util/maybe-promise.js'
import { show } from '../util/validate.js'
import { beforeHeaders } from './before-headers.js'

/** Returns whether a response whose headers are about to be sent means that somebody logged in. */
export type SuccessTest<Req, Res> = (req: Req, res: Res) => boolean

/** What an attempt came to. `'error'` = the server failed (5xx). */
export type Outcome = 'success' | 'failure' | 'error'

/**
 * Records the outcome that the application reports itself; the last report before the headers of the
 * response takes effect. Throws an `Error` once these were sent. Has no effect once the connection has ended
 * without them: the attempt has its outcome then.
 */
export type ReportOutcome = (outcome: 'success' | 'failure') => void

/**
 * Calls `settle` once with the outcome of an attempt: the reported one, or else what `succeeded` returns
 * when the headers of the response are about to be sent. Where the connection ends before, that is a
 * failure, so that hanging up avoids no limit. `thrown` is what `succeeded` threw, which makes a failure.
 */
export function onOutcome<Req extends IncomingMessage, Res extends ServerResponse>(
  req: Req,
  res: Res,
  succeeded: SuccessTest<Req, Res>,
  settle: (outcome: Outcome, thrown?: unknown) => void,
): ReportOutcome {
  let endedBy: 'headers' | 'close' | undefined
  let reported: 'success' | 'failure' | undefined

  function end(by: 'headers' | 'close'): void {
    if (endedBy !== undefined) return
    endedBy = by
    if (reported !== undefined) settle(reported)
    else if (by === 'close') settle('failure')
    else settle(...outcomeOf(req, res, succeeded))
  }

  if (isClosed(res)) end('close') // while the store decided
  beforeHeaders(res, () => end('headers'))
  res.once('close', () => end('close'))

  return function report(outcome) {
    if (res.headersSent || endedBy === 'headers') throw lateReport(outcome)
    reported = outcome
  }
}

function outcomeOf<Req, Res extends ServerResponse>(
  req: Req,
  res: Res,
  succeeded: SuccessTest<Req, Res>,
): [outcome: Outcome, thrown?: unknown] {
  try {
    const result: unknown = succeeded(req, res)
    if (typeof result === 'boolean') return [result ? 'success' : res.statusCode >= 500 ? 'error' : 'failure']
    if (isPromise(result)) result.then(undefined, () => undefined) // headers cannot wait for it
    const must = 'true or false, and not a promise'
    throw new TypeError(`loginGuard: succeeded must return ${must}, got ${show(result)}.`)
  } catch (thrown) {
    return ['failure', thrown]
  }
}

function lateReport(outcome: 'success' | 'failure'): Error {
  const name = outcome === 'success' ? 'reportSuccess' : 'reportFailure'
  const fix = 'Call it before res.send, res.redirect and the like.'
  return new Error(`loginGuard: ${name} was called after the headers of the response were sent. ${fix}`)
}
