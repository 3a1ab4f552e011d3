import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OnAllowed } from '../http/refund-uncounted.js'
import type { Decision } from '../limiter/decision.js'
import { emitFailure } from '../limiter/events.js'
import type { Limiter } from '../limiter/limiter.js'
import { messageOf } from '../stores/store-error.js'
import { isPromise } from '../util/maybe-promise.js'
import { warnOnce } from '../util/warn-once.js'
import type { Attempts } from './attempt.js'
import { CLEARED_LIMITS, LIMIT_NAMES } from './limits.js'
import type { LoginGuardOptions, LoginSettings } from './options.js'
import { type Outcome, onOutcome } from './outcome.js'
import type { BeginLog } from './security-events.js'

/**
 * Creates what follows an allowed attempt to its outcome. A success clears the
 * failures of the account, refunds the address, and makes the browser a known device. A failure stays
 * charged; so does an error of the server (5xx), except in the count of failures in a row: it shows nothing
 * about a password, and must not lead to a lock that only support can end.
 */
export function settleAttempts<Req extends IncomingMessage, Res extends ServerResponse>(
  { succeeded }: LoginSettings<Req, Res>,
  attempts: Attempts<Req>,
  beginLog: BeginLog<Req>,
  onLockout: LoginGuardOptions<Req, Res>['onLockout'],
): OnAllowed<Req, Res> {
  return function followAttempt(limiter, req, res, decision) {
    const attempt = attempts.of(req)
    const name = attempt.account() // known by now: the charge has waited for it
    const log = beginLog(req, name, decision)

    async function settle(outcome: Outcome): Promise<void> {
      if (outcome === 'success') {
        const browser = attempt.browser()
        if (!isPromise(browser) && !res.headersSent) browser?.remember(res)
        log.succeeded()
        return clear(limiter, decision)
      }
      const isLast = log.failed()
      if (outcome === 'error') return limiter.refund(decision, { limits: [LIMIT_NAMES.consecutive] })
      if (!isLast) return
      log.locked()
      await callOnLockout(() => onLockout?.(String(name), req))
    }

    attempt.report = onOutcome(req, res, succeeded, (outcome, thrown) => {
      if (thrown !== undefined) emitFailure(limiter.events, 'refundFailed', thrown, decision)
      settle(outcome)
        .catch((error) => emitFailure(limiter.events, 'refundFailed', error, decision))
        .finally(() => log.end())
    })
  }
}

/**
 * Forgets the failures of the account at once, so that those that come after the response are counted. Only
 * the address is refunded: a slow refund of a limit that is forgotten would take back a later failure.
 */
async function clear<Req>(limiter: Limiter<Req>, decision: Decision): Promise<void> {
  const forget = async () => limiter.forget(decision, { limits: CLEARED_LIMITS })
  const refund = async () => limiter.refund(decision, { limits: [LIMIT_NAMES.address] })
  await Promise.all([forget(), refund()])
}

async function callOnLockout(onLockout: () => unknown): Promise<void> {
  try {
    await onLockout()
  } catch (error) {
    const message = `headgate: onLockout threw (${messageOf(error)}). The account is locked all the same.`
    warnOnce('HEADGATE_LOCKOUT_FAILED', message)
  }
}
