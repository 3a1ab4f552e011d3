import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Decision } from '../decision.js'
import { hashedValue, isKey } from '../keys/identity.js'
import type { Limiter } from '../limiter.js'
import { tellRefundFailed, textOf } from '../observe/events.js'
import type { OnAllowed } from '../uncounted.js'
import { warnOnce } from '../warn-once.js'
import { CLEARED } from './login-limits.js'
import type { LoginSettings } from './login-options.js'
import { onOutcome } from './login-outcome.js'
import type { Attempter, SecurityEvents } from './security-events.js'

/** What watching an attempt needs beside a guard's settings. */
export interface Watching<Req> {
  readonly log: SecurityEvents<Req>
  readonly secret: string | undefined
}

/**
 * Follows an attempt that was let through, and charged, to its outcome. A success clears the failures of the account, gives the address
 * back what it took, and makes the browser a known device. A failure stays charged.
 */
export function watchAttempt<Req extends IncomingMessage, Res extends ServerResponse>(
  settings: LoginSettings<Req, Res>,
  { log, secret }: Watching<Req>,
): OnAllowed<Req, Res> {
  const { account, address, devices, succeeded, showsAccount, onLockout } = settings

  function attempterOf(req: Req, name: unknown): Attempter {
    const source = address(req)
    return {
      account: isKey(name) ? (showsAccount ? escaped(String(name)) : hashedValue(name, secret)) : 'unknown',
      address: typeof source === 'string' ? source : undefined,
    }
  }

  return function watch(limiter, req, res, decision) {
    const name = account.key(req) // known by now: the limiter has waited for it
    const who = attempterOf(req, name)
    onOutcome(req, res, succeeded, (isSuccess, thrown) => {
      if (thrown !== undefined) tellRefundFailed(limiter.events, thrown, decision)
      if (isSuccess) {
        if (isKey(name)) devices?.give(req, res, String(name))
        log.succeeded(req, decision, who)
        clear(limiter, decision)
      } else if (log.failed(req, decision, who) && isKey(name)) lockOut(onLockout, String(name), req)
    })
  }
}

/** First gives back, then forgets: a refund to a key that was charged anew in between would give back what others took. */
async function clear<Req>(limiter: Limiter<Req>, decision: Decision): Promise<void> {
  try {
    await limiter.refund(decision)
    await limiter.forget(decision, { limits: CLEARED })
  } catch (error) {
    tellRefundFailed(limiter.events, error, decision)
  }
}

async function lockOut<Req>(
  onLockout: LoginSettings<Req, never>['onLockout'],
  account: string,
  req: Req,
): Promise<void> {
  try {
    await onLockout?.(account, req)
  } catch (error) {
    const message = `headgate: onLockout threw (${textOf(error)}). The account is locked all the same.`
    warnOnce('HEADGATE_LOCKOUT_FAILED', message)
  }
}

/** So that a name ends neither the field of a log nor its line (ASVS 5.0, 16.4.1). */
function escaped(name: string): string {
  return encodeURIComponent(name).replaceAll('%40', '@')
}
