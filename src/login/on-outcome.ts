import type { IncomingMessage, ServerResponse } from 'node:http'
import { isClosed } from '../http/respond.js'
import { isPromise } from '../util/maybe-promise.js'
import { show } from '../util/validate.js'
import { beforeHeaders } from './before-headers.js'
import type { Succeeded } from './outcome.js'

/** What became of an attempt. `'error'` = the server failed (5xx). */
export type Outcome = 'success' | 'failure' | 'error'

/**
 * Takes the outcome that the application reports itself; the last report before the headers of the response
 * holds. Throws an `Error` once these were sent. Has no effect once the connection has ended without them:
 * the attempt is settled then.
 */
export type ReportOutcome = (outcome: 'success' | 'failure') => void

/**
 * Settles an attempt once. When the headers of its response are about to be sent: as reported, or else as
 * `succeeded` decides. Where the connection ends without any: as reported, or else as a failure, so that
 * hanging up avoids no limit. `thrown` is what `succeeded` threw, which makes a failure.
 */
export function onOutcome<Req extends IncomingMessage, Res extends ServerResponse>(
  req: Req,
  res: Res,
  succeeded: Succeeded<Req, Res>,
  settle: (outcome: Outcome, thrown?: unknown) => void,
): ReportOutcome {
  let settledBy: 'headers' | 'close' | undefined
  let reported: 'success' | 'failure' | undefined

  function judge(): void {
    if (settledBy !== undefined) return
    settledBy = 'headers'
    if (reported === undefined) settle(...outcomeOf(req, res, succeeded))
    else settle(reported)
  }

  function close(): void {
    if (settledBy !== undefined) return
    settledBy = 'close'
    settle(reported ?? 'failure')
  }

  if (isClosed(res)) close() // it ended while the store decided
  beforeHeaders(res, judge)
  res.once('close', close)

  return function report(outcome) {
    if (res.headersSent || settledBy === 'headers') throw lateReport(outcome)
    reported = outcome
  }
}

function outcomeOf<Req, Res extends ServerResponse>(
  req: Req,
  res: Res,
  succeeded: Succeeded<Req, Res>,
): [outcome: Outcome, thrown?: unknown] {
  try {
    const failed = res.statusCode >= 500 ? 'error' : 'failure'
    return [checked(succeeded(req, res)) ? 'success' : failed]
  } catch (thrown) {
    return ['failure', thrown]
  }
}

function lateReport(outcome: 'success' | 'failure'): Error {
  const name = outcome === 'success' ? 'reportSuccess' : 'reportFailure'
  return new Error(
    `loginGuard: ${name} was called after the headers of the response were sent. Call it before res.send, res.redirect and the like.`,
  )
}

/** A promise cannot be waited for here, and what is merely truthy may be anything. */
function checked(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  if (isPromise(value)) value.then(undefined, () => undefined)
  throw new TypeError(
    `loginGuard: succeeded must return true or false, and not a promise, got ${show(value)}.`,
  )
}
