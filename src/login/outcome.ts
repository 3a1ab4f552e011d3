import type { IncomingMessage, ServerResponse } from 'node:http'
import { isClosed } from '../http/respond.js'
import { isPromise } from '../util/maybe-promise.js'
import { show, wrongOption } from '../util/validate.js'
import { warnOnce } from '../util/warn-once.js'
import { beforeHeaders } from './before-headers.js'

/** How a guard recognizes a success, where the handler does not report the outcome itself. */
export interface OutcomeOptions<Req, Res> {
  /**
   * Returns whether a response means that somebody logged in; called when its headers are about to be sent.
   * Default: a status below 300, or a redirect to `successRedirect`.
   */
  succeeded?: (req: Req, res: Res) => boolean
  /**
   * Where successful logins are redirected to, exactly as the `Location` header has it: `'/home'`, or an
   * array. All other redirects (3xx) are failures. Default: none, and the first redirect emits the process
   * warning `HEADGATE_LOGIN_REDIRECT`.
   *
   * Where a client chooses what failed logins are redirected to (`Referer`, a parameter `next`), it can
   * choose this: use `guard.reportSuccess` or `succeeded` instead.
   */
  successRedirect?: string | readonly string[]
}

/** Returns whether a response whose headers are about to be sent means a success. */
export type SuccessTest<Req, Res> = (req: Req, res: Res) => boolean

/** Returns how a success is recognized. Throws a `TypeError` for both options at once. */
export function successTest(
  owner: string,
  {
    succeeded,
    successRedirect,
  }: { succeeded: SuccessTest<never, never> | undefined; successRedirect: readonly string[] | undefined },
): SuccessTest<never, never> {
  if (succeeded !== undefined && successRedirect !== undefined) {
    throw new TypeError(`${owner}: give either succeeded or successRedirect, not both.`)
  }
  if (succeeded !== undefined) return succeeded
  return (_req, res: ServerResponse) => {
    if (res.statusCode < 300 || res.statusCode >= 400) return res.statusCode < 300
    if (successRedirect === undefined) warnOfRedirect()
    return successRedirect?.includes(res.getHeader('location') as string) ?? false
  }
}

/** Reads one place or several, as they are sent: `Location` is a URI reference in ASCII (RFC 9110 §10.2.2). */
export function readSuccessRedirect(owner: string, option: string, value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const wrong = list.find((each) => typeof each !== 'string' || !/^[!-~]+$/.test(each))
  if (list.length > 0 && wrong === undefined) return [...(list as readonly string[])]
  const must = 'the Location of successful logins, percent-encoded as it is sent, or an array of them'
  throw wrongOption(owner, option, must, wrong ?? value, "Write successRedirect: '/home'.")
}

/**
 * A redirect without an option fails closed: a failure that counted as a success would clear its account, and
 * so allow any number of guesses.
 */
function warnOfRedirect(): void {
  warnOnce(
    'HEADGATE_LOGIN_REDIRECT',
    'headgate: a guarded login was answered with a redirect, which counts as a failure. Set successRedirect to the ' +
      "place that successful logins are redirected to ('/home'), pass succeeded: (req, res) => boolean, or call " +
      'guard.reportSuccess(req).',
  )
}

/** What an attempt came to. `'error'` = the server failed (5xx). */
export type Outcome = 'success' | 'failure' | 'error'

/**
 * Records the outcome that the application reports itself; the last report before the headers of the
 * response takes effect. Throws an `Error` once these were sent. Has no effect once the connection has ended
 * without them: the attempt has its outcome then.
 */
export type ReportOutcome = (outcome: 'success' | 'failure') => void

/**
 * Calls `settle` once with the outcome of an attempt. When the headers of its response are about to be sent,
 * that is the one reported, or else what `succeeded` returns. Where the connection ends without any, it is
 * the one reported, or else a failure, so that hanging up avoids no limit. `thrown` is what `succeeded`
 * threw, which makes a failure.
 */
export function onOutcome<Req extends IncomingMessage, Res extends ServerResponse>(
  req: Req,
  res: Res,
  succeeded: SuccessTest<Req, Res>,
  settle: (outcome: Outcome, thrown?: unknown) => void,
): ReportOutcome {
  let settledBy: 'headers' | 'close' | undefined
  let reported: 'success' | 'failure' | undefined

  function settleByHeaders(): void {
    if (settledBy !== undefined) return
    settledBy = 'headers'
    if (reported === undefined) settle(...outcomeOf(req, res, succeeded))
    else settle(reported)
  }

  function settleByClose(): void {
    if (settledBy !== undefined) return
    settledBy = 'close'
    settle(reported ?? 'failure')
  }

  if (isClosed(res)) settleByClose() // the connection ended while the store decided
  beforeHeaders(res, settleByHeaders)
  res.once('close', settleByClose)

  return function report(outcome) {
    if (res.headersSent || settledBy === 'headers') throw lateReport(outcome)
    reported = outcome
  }
}

function outcomeOf<Req, Res extends ServerResponse>(
  req: Req,
  res: Res,
  succeeded: SuccessTest<Req, Res>,
): [outcome: Outcome, thrown?: unknown] {
  try {
    const failed = res.statusCode >= 500 ? 'error' : 'failure'
    return [checkedBoolean(succeeded(req, res)) ? 'success' : failed]
  } catch (thrown) {
    return ['failure', thrown]
  }
}

/** Headers cannot wait for a promise, and any other truthy value may be a mistake. */
function checkedBoolean(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  if (isPromise(value)) value.then(undefined, () => undefined)
  throw new TypeError(
    `loginGuard: succeeded must return true or false, and not a promise, got ${show(value)}.`,
  )
}

function lateReport(outcome: 'success' | 'failure'): Error {
  const name = outcome === 'success' ? 'reportSuccess' : 'reportFailure'
  const fix = 'Call it before res.send, res.redirect and the like.'
  return new Error(`loginGuard: ${name} was called after the headers of the response were sent. ${fix}`)
}
