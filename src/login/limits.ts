import { isKey } from '../keys/value-identity.js'
import type { LimitOptions } from '../limiter/options.js'
import { consecutive } from '../policies/consecutive.js'
import type { Policy } from '../policies/policy.js'
import { kindOf } from '../policies/spec.js'
import { durationText } from '../util/durations.js'
import { thenMaybe } from '../util/maybe-promise.js'
import type { Attempt, Attempts } from './attempt.js'
import { STRANGER } from './device-cookie.js'
import type { LoginSettings } from './options.js'
import { windowText } from './policies.js'

/** What the limits are called in keys, decisions and `forget`. */
type LimitName = 'address' | 'account-and-address' | 'account' | 'consecutive'

/** Returns the names of the limits that count failures in a row: one, or none if that is switched off. */
export function inARowNames(consecutive: number | false): readonly LimitName[] {
  return consecutive === false ? [] : ['consecutive']
}

/** A limit of a guard. */
type LoginLimit<Req> = LimitOptions<Req> & { readonly name: LimitName; readonly policy: Policy }

/**
 * Returns the limits of a guard, which are decided together. A known device is limited as a separate
 * account, and not by its address: it can only attempt the one account, and people share addresses with
 * those who attempt many. Failures in a row are counted once for all strangers, and once for all known
 * devices of an account.
 *
 * A store of several servers charges one key after the other. Those of the account come last, so that only
 * attempts that no other limit denies are ever charged to it: else a charge that is about to be refunded
 * could be taken for the last failure in a row.
 */
export function loginLimits<Req extends object>(
  { limits: policies, consecutive: most, cookies }: LoginSettings<Req, never>,
  { keyOf, addressKey, accountOf, addressOf, browserOf }: Attempts<Req>,
): LoginLimit<Req>[] {
  const addressOfStranger = keyOf((attempt, req) =>
    attempt.device === STRANGER ? addressOf(attempt, req) : undefined,
  )
  const accountAndBrowserOf = (attempt: Attempt, req: Req) =>
    cookies === undefined ? accountOf(attempt, req) : join(accountOf(attempt, req), browserOf(attempt))
  const fromAddress = keyOf((attempt, req) =>
    thenMaybe(addressOf(attempt, req), (address) => join(accountAndBrowserOf(attempt, req), address)),
  )
  const limits: LoginLimit<Req>[] = [
    { name: 'address', policy: policies.address, key: cookies ? addressOfStranger : addressKey },
    { name: 'account-and-address', policy: policies.accountAndAddress, key: fromAddress },
    { name: 'account', policy: policies.account, key: keyOf(accountAndBrowserOf) },
  ]
  if (most === false) return limits
  // One row for all known devices: else whoever knew a password could log in often, keep the cookies, and
  // have the whole limit with each of them when the password has changed.
  const inARow = keyOf((attempt, req) => {
    if (!isKey(attempt.name)) return undefined // there is no account to lock
    return join(accountOf(attempt, req), attempt.device === STRANGER ? STRANGER : 'known')
  })
  return [...limits, { name: 'consecutive', policy: consecutive({ limit: most }), key: inARow }]
}

/** Joins two identities, each of which is bounded and holds no bar; `undefined` if either is. */
function join(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || other === undefined ? undefined : `${one}|${other}`
}

/** By what each limit counts, in words: without device cookies, and with them. */
const COUNTED_BY: Readonly<Record<LimitName, readonly [string, string]>> = {
  address: ['address', 'address of unknown browsers'],
  'account-and-address': ['account, address', 'account, browser, address'],
  account: ['account', 'account, browser'],
  consecutive: ['account', 'account, known and unknown browsers separately'],
}

/** Returns a row for each limit: its name, what it counts by, and its policy's numbers. */
export function describeLimits<Req>(limits: readonly LoginLimit<Req>[], hasDevices: boolean) {
  return limits.map(({ name, policy }) => {
    return { limit: name, key: COUNTED_BY[name][hasDevices ? 1 : 0], policy: describePolicy(policy) }
  })
}

function describePolicy({ spec, limit, windowMs }: Policy): string {
  const figures = `${kindOf(spec)}: ${limit}${windowText(windowMs)}`
  if (spec.kind !== 'ban') return figures
  const { after, withinMs, bansMs } = spec
  const bans = bansMs.map(durationText).join(', ')
  return `${figures}; after ${after} denials in ${durationText(withinMs)} banned for ${bans}`
}
