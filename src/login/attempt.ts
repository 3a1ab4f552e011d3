import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OnAllowed } from '../http/refund-uncounted.js'
import { isKey } from '../keys/identity.js'
import { chargeOf, type Decision } from '../limiter/decision.js'
import { emitRefundFailed } from '../limiter/events.js'
import type { Limiter } from '../limiter/limiter.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { Attempter } from './attempter.js'
import { CLEARED, LIMIT_NAMES } from './limits.js'
import type { Lockouts } from './lockouts.js'
import { type Outcome, onOutcome, type ReportOutcome } from './on-outcome.js'
import type { LoginSettings } from './options.js'
import type { SecurityEvents } from './security-events.js'

/** What watching an attempt needs beside a guard's settings. */
export interface Watching<Req> {
  readonly log: SecurityEvents<Req>
  readonly locks: Lockouts<Req>
  readonly who: (req: Req, name: unknown) => Attempter
  /** How the application reports the outcome of each attempt that was let through. */
  readonly reports: WeakMap<IncomingMessage, ReportOutcome>
}

/**
 * Follows an attempt that was let through, and charged, to its outcome. A success clears the failures of the
 * account, gives the address back what it took, and makes the browser a known device. A failure stays
 * charged; so does an error of the server (5xx), except in the count of failures in a row. There it stays
 * charged only where the store answered after its deadline: what it took late is not refunded.
 */
export function watchAttempt<Req extends IncomingMessage, Res extends ServerResponse>(
  { account, devices, succeeded }: LoginSettings<Req, Res>,
  { log, locks, who, reports }: Watching<Req>,
): OnAllowed<Req, Res> {
  /**
   * Forgets the failures of the account at once, so that those that come after the response are counted. The
   * store refunds only the limit that is not forgotten: a refund that is slow would take back a later
   * failure. Where the store did not decide, the whole decision is refunded, with what it may still take
   * late.
   */
  async function clear(limiter: Limiter<Req>, decision: Decision): Promise<void> {
    const refunded = decision.source === 'store' ? { limits: [LIMIT_NAMES.address] } : undefined
    await Promise.all([
      told(limiter, decision, () => limiter.refund(decision, refunded)),
      told(limiter, decision, () => limiter.forget(decision, { limits: CLEARED })),
      told(limiter, decision, () => locks.forget(chargeOf(decision) ?? [])),
    ])
  }

  return function watch(limiter, req, res, decision) {
    const name = account.key(req) // known by now: the limiter has waited for it
    const failuresBefore = log.begun(decision)
    if (decision.allowed) locks.passed(decision)

    async function settle(outcome: Outcome): Promise<void> {
      if (outcome === 'success') {
        if (isKey(name) && !res.headersSent) devices?.give(req, res)
        log.succeeded(req, decision, failuresBefore, () => who(req, name))
        await clear(limiter, decision)
      } else {
        const isLast = log.failed(req, decision, () => who(req, name))
        if (outcome === 'error') await giveBackInARow(limiter, decision)
        else if (isLast) locks.reached(req, decision)
      }
    }

    const report = onOutcome(req, res, succeeded, (outcome, thrown) => {
      if (thrown !== undefined) emitRefundFailed(limiter.events, thrown, decision)
      settle(outcome)
        .catch((error) => emitRefundFailed(limiter.events, error, decision))
        .finally(() => log.ended(decision))
    })
    reports.set(req, report)
  }
}

/** A server that fails tells nothing about a password: it must not come to a lock that nobody but support can end. */
function giveBackInARow<Req>(limiter: Limiter<Req>, decision: Decision): Promise<void> {
  return told(limiter, decision, () => limiter.refund(decision, { limits: [LIMIT_NAMES.consecutive] }))
}

async function told<Req>(
  limiter: Limiter<Req>,
  decision: Decision,
  work: () => MaybePromise<void>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    emitRefundFailed(limiter.events, error, decision)
  }
}
