import { isKey } from '../keys/identity.js'
import type { KeyFunction } from '../keys/key.js'
import type { LimitOptions } from '../limiter/options.js'
import { ban } from '../policies/ban.js'
import { consecutive } from '../policies/consecutive.js'
import type { Policy } from '../policies/policy.js'
import { slidingWindow } from '../policies/sliding-window.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'

/** The limits of a guard that count in time. Any policy will do. */
export interface LoginPolicies {
  /** Failures of one address (IPv6: one network), whatever the account: against one password tried on many accounts. */
  readonly address: Policy
  /** Failures of one account from all addresses together: against guesses from many addresses. */
  readonly account: Policy
  /** Failures of one account from one address: so that one guesser does not use up what the account has for everybody. */
  readonly accountAndAddress: Policy
}

/** What the limits are called in keys, decisions and `forget`. */
export const LIMIT_NAMES = {
  address: 'address',
  account: 'account',
  accountAndAddress: 'account-and-address',
  consecutive: 'consecutive',
} as const

/** The limits that a success clears. That of the address only gets back what the success itself took. */
export const CLEARED = [LIMIT_NAMES.account, LIMIT_NAMES.accountAndAddress, LIMIT_NAMES.consecutive]

/**
 * The limits where none are given.
 *
 * - Per account 10 in 30 minutes, after PCI DSS 4.0 8.3.4 (a lock after at most 10 attempts, for at least 30 minutes; here they come back one by
 *   one). Over hours it is 20 an hour, where OWASP ASVS 4.0 2.2.1 allows 100 (5.0 names no number, and wants the numbers written down: 6.1.1).
 * - Per account and address 5 in the same time, half of that: a lone guesser, however patient, leaves the account open for other addresses. Who
 *   goes on is refused for growing times (OWASP Authentication cheat sheet).
 * - Per address 50 in an hour: an office behind one address mistypes, too. Growing times here as well, but only after 500 refusals, since right
 *   logins that come at once may be refused for a moment; and none for good: OWASP's Credential Stuffing Prevention cheat sheet wants
 *   blocks of addresses to be temporary.
 */
export function defaultPolicies(): LoginPolicies {
  const fifty = slidingWindow({ limit: 50, window: '1h' })
  const five = slidingWindow({ limit: 5, window: '30m' })
  return {
    address: ban(fifty, { after: 500, within: '1h', for: ['1h', '6h', '1d'] }),
    account: slidingWindow({ limit: 10, window: '30m' }),
    accountAndAddress: ban(five, { after: 5, within: '30m', for: ['30m', '2h', '6h'] }),
  }
}

/** Who attempts: each key, and which device it is known to be, where devices are. */
export interface LoginKeys<Req> {
  readonly address: KeyFunction<Req>
  readonly account: KeyFunction<Req>
  readonly device: KeyFunction<Req> | undefined
}

/**
 * The limits of a guard, which are decided together. A known device has an account of its own, as far as
 * they see, and is not limited by its address: it can only attempt the one account, and people share
 * addresses with those who attempt many. Failures in a row are counted once for all strangers, and once for
 * all known devices of an account.
 *
 * A store of several servers takes of one key after the other. What is the account's comes last, so that
 * only attempts that nothing else refuses ever take of it: else what is about to be given back could be held
 * for a failure too many in a row.
 */
export function loginLimits<Req>(
  { address, account, accountAndAddress }: LoginPolicies,
  mostInARow: number | false,
  keys: LoginKeys<Req>,
): LimitOptions<Req>[] {
  const who = keys.device === undefined ? [keys.account] : [keys.account, keys.device]
  const limits: LimitOptions<Req>[] = [
    { name: LIMIT_NAMES.address, policy: address, key: strangersAddress(keys) },
    { name: LIMIT_NAMES.accountAndAddress, policy: accountAndAddress, key: [...who, keys.address] },
    { name: LIMIT_NAMES.account, policy: account, key: who },
  ]
  if (mostInARow === false) return limits
  const inARow = onlyNamed(consecutive({ limit: mostInARow }), keys.account)
  const row = keys.device === undefined ? [keys.account] : [keys.account, rowKey(keys.device)]
  return [...limits, { name: LIMIT_NAMES.consecutive, policy: inARow, key: row }]
}

/**
 * The limits that are forgotten with an account: those of strangers, and the row of all known devices. Which
 * devices there are nobody knows but their browsers: what one of them has failed
 * within a window ends with the window.
 */
export function releasedLimits<Req>(
  policies: LoginPolicies,
  mostInARow: number | false,
  keys: LoginKeys<Req>,
): { readonly strangers: LimitOptions<Req>[]; readonly known: LimitOptions<Req>[] } {
  if (keys.device === undefined) return { strangers: loginLimits(policies, mostInARow, keys), known: [] }
  const strangers = loginLimits(policies, mostInARow, { ...keys, device: () => STRANGER })
  const known = loginLimits(policies, mostInARow, { ...keys, device: () => KNOWN })
  return { strangers, known: known.filter(({ name }) => name === LIMIT_NAMES.consecutive) }
}

/** Attempts without a name, or with what can be none, are nobody's: there is no account to lock, and nobody to unlock it. */
function onlyNamed<Req>(
  policy: Policy,
  account: KeyFunction<Req>,
): (req: Req) => MaybePromise<Policy | undefined> {
  return (req) => thenMaybe(account(req), (name) => (isKey(name) ? policy : undefined))
}

/** What strangers have for a device. */
const STRANGER = 'stranger'
/** What known devices have in common. */
const KNOWN = 'known'

/**
 * A key that tells strangers and known devices apart, and no known device from another. Else whoever knew a
 * password could log in often, keep the cookies, and run as many failures in a row as the limit allows with
 * each of them when the password has changed.
 */
function rowKey<Req>(device: KeyFunction<Req>): KeyFunction<Req> {
  return (req) => thenMaybe(device(req), (known) => (known === STRANGER ? STRANGER : KNOWN))
}

function strangersAddress<Req>({ address, device }: LoginKeys<Req>): KeyFunction<Req> {
  if (device === undefined) return address
  return (req) => thenMaybe(device(req), (known) => (known === STRANGER ? address(req) : undefined))
}

/** A key that tells devices apart. */
export function deviceKey<Req>(
  account: KeyFunction<Req>,
  deviceOf: (req: Req, account: string) => MaybePromise<string | undefined>,
): KeyFunction<Req> {
  return (req): MaybePromise<unknown> =>
    thenMaybe(account(req), (name) => {
      if (!isKey(name)) return STRANGER
      return thenMaybe(deviceOf(req, String(name)), (device) => device ?? STRANGER)
    })
}
