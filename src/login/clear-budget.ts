import type { Policy, State } from '../policies/policy.js'
import { slidingLog } from '../policies/sliding-log.js'
import { show } from '../util/validate.js'
import { warnOnce } from '../util/warn-once.js'

/**
 * How many failures of an account successes may clear in any hour. The last success may clear nine more, and
 * the default limits allow 20 others. So an account has some 50 failures an hour, like an address. OWASP
 * ASVS 4.0, 2.2.1 allows 100. A shared account reaches the bound if 300 logins an hour succeed, and one in
 * ten fails.
 */
const MOST_CLEARED = 30
/** The most accounts that are remembered at once. */
const MAX_ACCOUNTS = 1000

const WINDOW_MS = 3_600_000

/** The failures of an account that successes have cleared. */
interface Cleared {
  /** The state of the policy. */
  readonly state: State | undefined
  /** How many of them counted against the budget at the last success. */
  readonly failures: number
  /** When none of them counts any more. */
  readonly endsAtMs: number
}

/** Bounds the guesses that an application allows if it responds to other requests as to logins. */
export interface ClearBudget {
  /** Returns whether a success of an account no longer clears its failures. */
  isUsedUp(account: string): boolean
  /** Records that failures of an account were cleared. */
  spend(account: string, failures: number): void
}

/**
 * Creates the budget of a guard in this process. The strangers and the known devices of an account have
 * separate budgets, so guessers cannot use up that of the owner's browsers. To bound its memory, it forgets
 * the account that has used the least.
 */
export function clearBudget(guard: string, now: () => number = Date.now): ClearBudget {
  const policy: Policy = slidingLog({ limit: MOST_CLEARED, window: WINDOW_MS })
  /** By account. The one that logged in last comes last. */
  const accounts = new Map<string, Cleared>()

  const leftOf = (account: string) => policy.take(accounts.get(account)?.state, now(), 0).remaining

  /** Forgets the account with the fewest cleared failures; of several, the one that logged in first. */
  function makeRoom(): void {
    const nowMs = now()
    let fewest = Number.POSITIVE_INFINITY
    let leastUsed = ''
    for (const [account, { failures, endsAtMs }] of accounts) {
      const counted = endsAtMs > nowMs ? failures : 0
      if (counted < fewest) [fewest, leastUsed] = [counted, account]
    }
    accounts.delete(leastUsed)
  }

  return {
    isUsedUp: (account) => leftOf(account) === 0,
    spend(account, failures) {
      const units = Math.min(failures, leftOf(account))
      if (units === 0) return
      const nowMs = now()
      const { next, remaining } = policy.take(accounts.get(account)?.state, nowMs, units)
      accounts.delete(account) // keeps the map in order of use
      if (accounts.size >= MAX_ACCOUNTS) makeRoom()
      accounts.set(account, {
        state: next,
        failures: MOST_CLEARED - remaining,
        endsAtMs: nowMs + WINDOW_MS,
      })
      if (remaining === 0) warn(guard)
    },
  }
}

function warn(guard: string): void {
  warnOnce(
    'HEADGATE_LOGIN_SUCCESSES',
    `headgate: loginGuard ${show(guard)} cleared ${MOST_CLEARED} failures of one account within an hour, because ` +
      'it counted responses between them as successful logins. Until these failures are an hour old, further ' +
      'ones clear none of that account and set no device cookie. Does your application respond with 200 without ' +
      'checking a password or a code? Respond with 202, or exempt such requests with skip. If many users share ' +
      'the account, call guard.reportSuccess(req) for each login.',
    `${guard} cleared`, // the guard may cause other warnings with this code
  )
}
