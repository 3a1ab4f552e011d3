import type { Server } from '../http/server.js'
import { isPromise } from '../util/maybe-promise.js'
import { show } from '../util/validate.js'

/**
 * Returns whether a response whose headers are about to be sent means that somebody logged in.
 * @inline
 */
export type SuccessTest<Req, Res> = (req: Req, res: Res) => boolean

/** What an attempt came to. `'error'` = the server failed (5xx). */
export type Outcome = 'success' | 'failure' | 'error'

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
  server: Server<Res>,
  res: Res,
  readOutcome: () => Outcome,
  settle: (outcome: Outcome) => unknown,
): Ending {
  const ending: Ending = { reported: undefined, isSettled: false, areHeadersSent: server.areHeadersSent(res) }

  const stopListening = server.onceAborted(res, () => {
    if (ending.isSettled) return
    ending.isSettled = true
    ending.areHeadersSent = server.areHeadersSent(res)
    settle(ending.reported ?? 'failure')
  })
  server.beforeHeaders(res, () => {
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
      'loginGuard: the headers were sent before the report. Report the outcome before the response.',
    )
  ending.reported = outcome
}

/** Returns the outcome by the result of `succeeded`. Throws a `TypeError` unless it is a boolean. */
export function outcomeOf(result: unknown, status: number): Outcome {
  if (typeof result === 'boolean') return result ? 'success' : status >= 500 ? 'error' : 'failure'
  if (isPromise(result)) result.then(undefined, () => undefined) // headers cannot wait for it
  const must = 'true or false, and not a promise'
  throw new TypeError(`loginGuard: succeeded must return ${must}, got ${show(result)}.`)
}
