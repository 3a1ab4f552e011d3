import type { IncomingMessage, ServerResponse } from 'node:http'
import { show } from '../checks.js'
import { isPromise } from '../maybe-promise.js'
import { beforeHeaders } from './before-headers.js'
import type { Succeeded } from './login-outcome.js'

/** What became of an attempt. `'error'` = the server failed (5xx). */
export type Outcome = 'success' | 'failure' | 'error'

/**
 * Settles an attempt once: when the headers of its response are about to be sent; or as a failure where the connection ends without any, since
 * hanging up must be no way around. `thrown` is what `succeeded` threw, which makes a failure.
 */
export function onOutcome<Req extends IncomingMessage, Res extends ServerResponse>(
  req: Req,
  res: Res,
  succeeded: Succeeded<Req, Res>,
  settle: (outcome: Outcome, thrown?: unknown) => void,
): void {
  let isSettled = false

  function settleOnce(outcome: Outcome, thrown?: unknown): void {
    if (isSettled) return
    isSettled = true
    settle(outcome, thrown)
  }

  function judge(): void {
    if (isSettled) return
    try {
      const failed = res.statusCode >= 500 ? 'error' : 'failure'
      settleOnce(checked(succeeded(req, res)) ? 'success' : failed)
    } catch (thrown) {
      settleOnce('failure', thrown)
    }
  }

  if (res.closed || res.destroyed) settleOnce('failure') // it ended while the store was asked
  beforeHeaders(res, judge)
  res.once('close', () => settleOnce('failure'))
}

/** A promise cannot be waited for here, and what is merely truthy may be anything. */
function checked(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  if (isPromise(value)) value.then(undefined, () => undefined)
  throw new TypeError(
    `loginGuard: succeeded must return true or false, and not a promise, got ${show(value)}.`,
  )
}
