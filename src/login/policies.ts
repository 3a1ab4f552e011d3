import { readOptions, withDefault } from '../options/option-table.js'
import { ban } from '../policies/ban.js'
import { isPolicy, type Policy } from '../policies/policy.js'
import { slidingLog } from '../policies/sliding-log.js'
import { slidingWindow } from '../policies/sliding-window.js'
import { durationText } from '../util/durations.js'
import { show, wrongOption } from '../util/validate.js'
import { warnOnce } from '../util/warn-once.js'

/** The limits of a guard that have a window. Each can be any policy except `concurrency`. */
export interface LoginPolicies {
  /** Failures from one IP address (IPv6: one network), whatever the account. Stops password spraying. */
  readonly address: Policy
  /** Failures for one account from all addresses together. Stops guesses from many addresses. */
  readonly account: Policy
  /**
   * Failures for one account from one address. Stops a single guesser before the account's limit denies all
   * others.
   */
  readonly accountAndAddress: Policy
}

/**
 * Returns the default policies.
 *
 * - Per account 10 in any 30 minutes, after PCI DSS 4.0 8.3.4: a log, which holds exactly. Over hours it is 20 an hour, where OWASP ASVS 4.0
 *   2.2.1 allows 100 (5.0 names no number, and wants the numbers written down: 6.1.1).
 * - Per account and address half of that, so that a single guesser leaves the account open for other
 *   addresses; then escalating bans (OWASP Authentication cheat sheet).
 * - Per address 50 in an hour: users behind one address also mistype. Bans follow only after 500 denials,
 *   since correct logins that arrive at once may be denied for a moment; and none is permanent (OWASP
 *   Credential Stuffing Prevention cheat sheet).
 */
function defaultPolicies(): LoginPolicies {
  const fifty = slidingWindow({ limit: 50, window: '1h' })
  const five = slidingLog({ limit: 5, window: '30m' })
  return {
    address: ban(fifty, { after: 500, within: '1h', for: ['1h', '6h', '1d'] }),
    account: slidingLog({ limit: 10, window: '30m' }),
    accountAndAddress: ban(five, { after: 5, within: '30m', for: ['30m', '2h', '6h'] }),
  }
}

export function readPolicies(owner: string, option: string, limits: unknown): LoginPolicies {
  const { address, account, accountAndAddress } = defaultPolicies()
  const rows = {
    address: withDefault(address, readPolicy),
    account: withDefault(account, readPolicy),
    accountAndAddress: withDefault(accountAndAddress, readPolicy),
  }
  const fixes = { ip: 'address', pair: 'accountAndAddress' }
  return readOptions(`${owner}: ${option}`, limits, { rows, fixes })
}

/**
 * Warns, once for each guard, if failures from one address can use up more than half of the limit of an
 * account, so that one or two guessers can lock out its owner. Bans are not considered: a guesser who paces
 * the attempts is never denied, and so never banned. This is a warning, not an error: if only the owner can
 * name the account, as for one-time codes, the two limits may be the same.
 */
export function warnOfLockout(guard: string, { account, accountAndAddress: pair }: LoginPolicies): void {
  const windows = account.windowMs === pair.windowMs ? 1 : account.windowMs / pair.windowMs
  const fromOneAddress = pair.limit * Math.max(1, windows)
  if (fromOneAddress * 2 <= account.limit) return
  const half = Math.max(1, Math.floor(account.limit / 2))
  const fix = `Lower the first to ${half}${windowText(account.windowMs)}, or raise the second.`
  warnOnce(
    'HEADGATE_LOGIN_LIMITS',
    `headgate: loginGuard ${show(guard)}: limits.accountAndAddress (${pair.limit}${windowText(pair.windowMs)}) lets one or ` +
      `two IP addresses use up limits.account (${account.limit}${windowText(account.windowMs)}), and so lock out the ` +
      `owner. ${fix}`,
    guard,
  )
}

/** Returns the window of a limit in words; nothing if it has none. */
export function windowText(windowMs: number): string {
  return Number.isFinite(windowMs) ? ` in ${durationText(windowMs)}` : ''
}

function readPolicy(owner: string, option: string, policy: unknown): Policy {
  if (isPolicy(policy) && !policy.holdsUnits) return policy
  const must = isPolicy(policy) ? 'a policy other than concurrency' : 'a policy'
  throw wrongOption(owner, option, must, policy, "Write slidingLog({ limit: 10, window: '30m' }).")
}
