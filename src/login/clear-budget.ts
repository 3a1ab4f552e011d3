import type { Policy, State } from '../policies/policy.js'
import { slidingLog } from '../policies/sliding-log.js'
import { show } from '../util/validate.js'
import { warnOnce } from '../util/warn-once.js'

/**
 * How many failures of an account successes may clear in any hour. The last success may clear nine more, and
 * the default limits allow 20 others. So an account has some 50 failures an hour, as an address has, where
 * OWASP ASVS 4.0, 2.2.1 allows 100. One that many share has as many if one login in ten fails, and 300 succeed.
 */
const MOST_CLEARED = 30
/** The most accounts that are remembered at once. */
const MAX_ACCOUNTS = 1000

/** What was cleared of an account, as of the last time. */
interface Spent {
  readonly state: State | undefined
  readonly units: number
  /** When nothing of it counts any more. */
  readonly untilMs: number
}

/** Bounds the guesses that an application allows if it responds to some of them as to a login. */
export interface ClearBudget {
  /** Returns whether the failures of an account stay, although it succeeded. */
  isUsedUp(account: string): boolean
  /** Records that failures of an account were cleared. */
  spend(account: string, failures: number): void
}

/**
 * Creates the budget of a guard in this process. Strangers and known devices of an account have one each, so
 * that guessers cannot use up that of the owner's browsers. An account that has used much is never forgotten
 * for one that has used less.
 */
export function clearBudget(guard: string, now: () => number = Date.now): ClearBudget {
  const policy: Policy = slidingLog({ limit: MOST_CLEARED, window: '1h' })
  const accounts = new Map<string, Spent>()

  const leftOf = (account: string) => policy.take(accounts.get(account)?.state, now(), 0).remaining

  /** Forgets the account that had least cleared, and of several the one that logged in first. */
  function makeRoom(): void {
    let least: readonly [account: string, units: number] | undefined
    for (const [account, { units, untilMs }] of accounts) {
      const left = untilMs > now() ? units : 0
      if (least === undefined || left < least[1]) least = [account, left]
    }
    if (least !== undefined) accounts.delete(least[0])
  }

  return {
    isUsedUp: (account) => leftOf(account) === 0,
    spend(account, failures) {
      const left = leftOf(account)
      const spent = Math.min(failures, left)
      if (spent === 0) return
      const step = policy.take(accounts.get(account)?.state, now(), spent)
      const { next: state, remaining, resetAfterMs } = step
      accounts.delete(account) // the order of the map is that of use
      if (accounts.size >= MAX_ACCOUNTS) makeRoom()
      accounts.set(account, { state, units: MOST_CLEARED - remaining, untilMs: now() + resetAfterMs })
      if (remaining === 0) warn(guard)
    },
  }
}

function warn(guard: string): void {
  warnOnce(
    'HEADGATE_LOGIN_SUCCESSES',
    `headgate: loginGuard ${show(guard)} cleared ${MOST_CLEARED} failures of one account within an hour, because ` +
      'it took responses between them for successful logins. Further ones clear no failures of that account, ' +
      'and set no device cookie, until these are an hour old. Does your application respond with 200 without ' +
      'checking a password or a code? Respond with 202, or exempt such requests with skip. If many users share ' +
      'the account, call guard.reportSuccess(req) for each login.',
    `${guard} cleared`, // beside what is suspected of the same guard
  )
}
