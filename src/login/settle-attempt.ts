import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OnAllowed } from '../http/refund-uncounted.js'
import type { Decision } from '../limiter/decision.js'
import { emitFailure } from '../limiter/events.js'
import type { Limiter } from '../limiter/limiter.js'
import { messageOf } from '../stores/store-error.js'
import { warnOnce } from '../util/warn-once.js'
import type { Attempts } from './attempt.js'
import type { LoginSettings } from './options.js'
import { type Outcome, onOutcome, outcomeOf } from './outcome.js'
import type { LogEvent, securityLog } from './security-events.js'

/**
 * Creates the `onAllowed` of a guard: it applies the outcome of each attempt. A success clears the failures
 * of the account, refunds the address, and makes the browser a known device. A failure stays charged; so
 * does a server error (5xx), except in the count of failures in a row: it shows nothing about a password,
 * and must not lead to a lock that only support can end.
 */
export function settleAttempts<Req extends IncomingMessage, Res extends ServerResponse>(
  { succeeded, onLockout }: LoginSettings<Req, Res>,
  attempts: Attempts<Req>,
  logOf: ReturnType<typeof securityLog<Req>>,
): OnAllowed<Req, Res> {
  const countRunning = counter()

  return function followAttempt(limiter, req, res, decision) {
    const attempt = attempts.get(req)
    if (attempt === undefined) return // disconnected before it began, and passes in report mode
    const { name, remember } = attempt
    const running = decision.allowed ? countRunning(name, 1) : 0 // charged, too, and no failures yet
    const failures = failuresOf(decision) - running
    const log = logOf(req, name)
    const emitError = (error: unknown) => emitFailure(limiter.events, 'refundFailed', error, decision)

    function readOutcome(): Outcome {
      try {
        return outcomeOf(req, res, succeeded)
      } catch (error) {
        emitError(error)
        return 'failure'
      }
    }

    async function settle(outcome: Outcome): Promise<void> {
      if (outcome === 'success') {
        if (!res.headersSent) remember?.(res)
        if (failures > 0) log('authn_login_successafterfail', failures)
        return clear(limiter, decision)
      }
      const isLastInRow = logExhausted(decision, log)
      if (outcome === 'error') return limiter.refund(decision, { limits: ['consecutive'] })
      if (!isLastInRow) return
      log('authn_login_lock', 'maxretries')
      try {
        await onLockout?.(String(name), req)
      } catch (error) {
        const problem = `onLockout threw (${messageOf(error)}). The account is locked all the same.`
        warnOnce('HEADGATE_LOCKOUT_FAILED', `headgate: ${problem}`)
      }
    }

    attempt.report = onOutcome(res, readOutcome, (outcome) => {
      settle(outcome)
        .catch(emitError)
        .finally(() => decision.allowed && countRunning(name, -1))
    })
  }
}

/**
 * Logs the limits whose last unit a failure took: of all processes that share a store, one failure does.
 * Returns whether it was the last one in a row that is allowed.
 */
function logExhausted({ allowed, parts, source }: Decision, log: LogEvent): boolean {
  if (!allowed) return false // in report mode
  const exhausted = parts.filter(({ remaining }) => remaining === 0)
  for (const { name, limit } of exhausted) {
    if (name === 'address') log('excess_rate_limit_exceeded', limit)
    else if (name !== 'consecutive') log('authn_login_fail_max', limit)
  }
  if (source !== 'store') return false // a share of the limit, in the memory of one process
  return exhausted.some(({ name }) => name === 'consecutive')
}

/** Returns how many attempts at the account are charged, by the limit that counts longest. */
function failuresOf({ parts }: Decision): number {
  const part = parts.findLast(({ name }) => name === 'consecutive' || name === 'account')
  return part === undefined ? 0 : part.limit - part.remaining
}

/** Creates a counter by name, which counts up or down and returns the count; 0 takes no memory. */
function counter(): (name: unknown, change: 1 | -1) => number {
  const counts = new Map<unknown, number>()
  return (name, change) => {
    const count = (counts.get(name) ?? 0) + change
    if (count > 0) counts.set(name, count)
    else counts.delete(name)
    return count
  }
}

/**
 * Forgets the failures of the account at once, so that those that come after the response are counted. Only
 * the address is refunded, and only this attempt: a slow refund of a limit that is forgotten would take back
 * a later failure.
 */
async function clear<Req>(limiter: Limiter<Req>, decision: Decision): Promise<void> {
  const limits = ['account-and-address', 'account', 'consecutive']
  const forget = async () => limiter.forget(decision, { limits })
  const refund = async () => limiter.refund(decision, { limits: ['address'] })
  await Promise.all([forget(), refund()])
}
