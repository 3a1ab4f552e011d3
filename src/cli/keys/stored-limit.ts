import { IDENTITY_END, IDENTITY_START } from '../../keys/identity-braces.js'
import { isPlainIpv4 } from '../../keys/ip-text.js'
import { readScope, type ScopedLimit } from '../../pipe/published-limits.js'
import { ban } from '../../policies/ban.js'
import type { Policy } from '../../policies/policy.js'
import { policyFromSpec } from '../../policies/policy-from-spec.js'
import { type PolicySpec, readKeyCode } from '../../policies/spec.js'
import { MAX_DURATION_MS } from '../../util/durations.js'

/** A limit, as the keys of a store show it. */
export interface StoredLimit extends ScopedLimit {
  /** Whether its policy is a ban. */
  readonly isBan: boolean
  /** A policy of its kind; of a ban, of the wrapped policy. Keys do not have its numbers. */
  readonly anyPolicy: Policy
  /** What its keys have between the version of the state format and the identity. */
  readonly scope: string
  /** What its keys begin with, up to the identity. */
  readonly beginning: string
}

/** The version of the state format that this version of headgate reads. */
const STATE_VERSION = 3

/**
 * Numbers for a policy of any kind. Under them, no unit in a state comes back for a long time: what it has used
 * is what it had used at its last charge.
 */
const ANY_NUMBERS = {
  capacity: 1,
  intervalMs: 2 ** 25,
  limit: 2 ** 37,
  windowMs: MAX_DURATION_MS,
  per: 'month',
  timeZone: 'UTC',
}

/** Returns what all keys of headgate begin with under a prefix. */
export function keyStart(prefix: string): string {
  return `${prefix}:${STATE_VERSION}:`
}

/** Returns the beginning of a key of headgate, and the identity in it; `undefined` for another key. */
export function splitKey(key: string): { beginning: string; identity: string } | undefined {
  const at = key.indexOf(IDENTITY_START)
  if (at < 0 || !key.endsWith(IDENTITY_END)) return undefined
  const end = at + IDENTITY_START.length
  return { beginning: key.slice(0, end), identity: key.slice(end, -IDENTITY_END.length) }
}

/** Returns the limit whose keys begin so; `undefined` for keys of other programs. */
export function limitOf(beginning: string, start: string): StoredLimit | undefined {
  if (!beginning.startsWith(start)) return undefined
  const scope = beginning.slice(start.length, -IDENTITY_START.length)
  const scoped = readScope(scope)
  const coded = scoped && readKeyCode(scoped.code)
  if (scoped === undefined || coded === undefined) return undefined
  const { kind, isBan } = coded
  const most = kind === 'sliding-log' ? { limit: 1000 } : {}
  const anyPolicy = policyFromSpec({ kind, ...ANY_NUMBERS, ...most, ...coded.numbers } as PolicySpec)
  const { limiter, limit, isCandidate } = scoped
  return { limiter, limit, isCandidate, isBan, anyPolicy, scope, beginning }
}

/**
 * Returns a policy for operations on keys of a limit. Keys do not have the rules of a ban: it has a longest ban
 * of `longestBanMs`.
 */
export function policyFor({ isBan, anyPolicy }: StoredLimit, base = anyPolicy, longestBanMs = 1): Policy {
  return isBan ? ban(base, { after: 1, within: `${longestBanMs}ms`, for: `${longestBanMs}ms` }) : base
}

/** Returns the key of an identity under a limit. */
export function keyOf({ beginning }: StoredLimit, identity: string): string {
  return beginning + identity + IDENTITY_END
}

/** Returns a limit's name, such as `login/account`. */
export function fullName({ limiter, limit }: StoredLimit): string {
  return limit === undefined ? limiter : `${limiter}/${limit}`
}

/** Returns the parts of an identity that several key functions have made. */
export function partsOf(identity: string): readonly string[] {
  return identity.split('|')
}

/**
 * Returns of what kind an identity is: `ipv4`, `ipv6/56` for a network, `hash` or `text`; of several
 * key functions, the kinds of all parts.
 */
export function shapeOf(identity: string): string {
  return partsOf(identity).map(shapeOfPart).join('|')
}

function shapeOfPart(part: string): string {
  if (isPlainIpv4(part)) return 'ipv4'
  const [, prefix] = /^[\da-f:]+\/(\d{1,3})$/.exec(part) ?? []
  if (prefix !== undefined) return `ipv6/${prefix}`
  return /^[\w-]{22}$/.test(part) ? 'hash' : 'text'
}
