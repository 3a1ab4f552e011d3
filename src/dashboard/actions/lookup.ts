import { spellingsOf } from '../../keys/spellings.js'
import { shownIdentity } from '../../keys/value-identity.js'
import type { Listing } from '../../limiter/access-rules.js'
import { adjustments } from '../../limiter/adjust-limiter.js'
import { bansAmong } from '../../limiter/change-parts.js'
import { subjectOfKeys } from '../../limiter/decision.js'
import type { Inspection } from '../../limiter/inspection.js'
import type { NamedPart } from '../../limiter/receipt.js'
import { type Limit, partOf } from '../../limiter/resolve-parts.js'
import type { Standing } from '../../stores/operation.js'
import { messageOf } from '../../stores/store-error.js'
import { groupBy } from '../../util/group-by.js'
import type { Watched } from '../figures/limiter-watch.js'
import { limitsInUse } from './limits-in-use.js'

/** What one limit holds of an identity, with durations from now. `Infinity` is `null` in JSON. */
export interface FoundStanding extends Omit<Standing, 'atMs' | 'debt'> {
  readonly limitName: string
  readonly limit: number
  /** The identity as stores keep it. */
  readonly identity: string
}

/** What a limiter holds of an identity. */
export interface Found {
  readonly limiter: string
  /** Empty if the identity has taken nothing. */
  readonly standings: readonly FoundStanding[]
  /** The longest block that the limiter can keep; 0 if no limit of it is a ban. */
  readonly longestBlockMs: number
  /** The option that lists the address: `block` denies it whatever the limits say, `allow` exempts it. */
  readonly listing?: Listing
  /** Why it could not be read. */
  readonly problem?: string
}

/** A limit from a policy function is known once the function has returned it. */
const FIX_BLOCK = 'Block the client after its next request.'

/**
 * Returns what a limiter holds of an identity, as a person types it. If there are several plans, returns
 * what is left under each. Never rejects.
 */
export async function lookUp(watched: Watched, text: string): Promise<Found> {
  const { name: limiter, inspection } = watched
  const listing = inspection.listingOf(text)
  const found = { limiter, ...(listing && { listing }) }
  let limits: readonly Limit[] = Array.from(inspection.limits.values())
  try {
    limits = await limitsInUse(inspection)
    const parts = partsOf(watched, text, limits)
    const read = await Promise.all(parts.map((part) => readStanding(inspection, part)))
    const standings = read.filter((standing) => standing !== undefined)
    return { ...found, longestBlockMs: longestBlockOf(limits), standings }
  } catch (error) {
    return { ...found, longestBlockMs: longestBlockOf(limits), standings: [], problem: messageOf(error) }
  }
}

/** Forgets what an identity has used of a limiter. Rejects if the store failed. */
export async function releaseIdentity(watched: Watched, text: string): Promise<void> {
  const limits = await limitsInUse(watched.inspection)
  await adjustments(watched.limiter).forget(subjectOfKeys(keysOf(watched, text, limits)))
}

/**
 * Blocks an identity in those limits of a limiter that are bans, under each spelling that they may use.
 * Rejects with a `TypeError` if there are none, or if the block is longer than one of them can be.
 */
export async function blockIdentity(watched: Watched, text: string, durationMs: number): Promise<void> {
  const limits = await limitsInUse(watched.inspection)
  const keys = keysOf(watched, text, limits)
  if (keys.length === 0)
    throw new TypeError(`dashboard: ${watched.name} has had no request yet. ${FIX_BLOCK}`)
  bansAmong('dashboard', limits, durationMs) // throws
  await adjustments(watched.limiter).blockFor(subjectOfKeys(keys), durationMs)
}

/** Returns whether a client can have an identity that a person typed. */
export function canBeIdentity(text: string): boolean {
  return spellingsOf(text, { secret: undefined }).length > 0
}

/** Returns the longest block that every ban among the limits can keep; 0 if none is a ban. */
function longestBlockOf(limits: readonly Limit[]): number {
  const bansMs = limits.flatMap(({ policy }) => policy.longestBanMs ?? [])
  return bansMs.length > 0 ? Math.min(...bansMs) : 0
}

/** Reads what a key has left; `undefined` if it has taken nothing. */
export async function readStanding(
  { apply }: Inspection,
  { key, policy, name: limitName, identity }: NamedPart,
): Promise<FoundStanding | undefined> {
  const { remaining, moreAfterMs, resetAfterMs, bannedForMs } = await apply({
    type: 'take',
    key,
    policy,
    units: 0,
  })
  if (resetAfterMs === 0) return undefined
  const figures = { limit: policy.limit, remaining, moreAfterMs, resetAfterMs, bannedForMs }
  return { limitName, identity: shownIdentity(identity), ...figures }
}

/** Returns all keys that an identity may have in a limiter, each once. */
function keysOf(watched: Watched, text: string, limits: readonly Limit[]): readonly NamedPart[] {
  return partsOf(watched, text, limitsOfKeys(limits))
}

/** Returns the parts of limits for an identity in each spelling that a limiter may use. */
export function partsOf(watched: Watched, text: string, limits: readonly Limit[]): readonly NamedPart[] {
  const { secret, isLocal } = watched.inspection
  const listed = watched.writtenOutOf?.(text.trim())
  const spellings = [...spellingsOf(text, { secret, isLocal }), ...(listed === undefined ? [] : [listed])]
  return limits.flatMap((limit) => spellings.map((spelling) => partOf(limit, spelling, 0)))
}

/**
 * Returns one limit for each scope of keys: the one with the longest ban, which keeps a record for longest.
 */
function limitsOfKeys(limits: readonly Limit[]): readonly Limit[] {
  const scopes = groupBy(limits, ({ scope }) => scope)
  const banOf = ({ policy }: Limit) => policy.longestBanMs ?? 0
  return Array.from(scopes.values(), (group) => group.reduce((a, b) => (banOf(b) > banOf(a) ? b : a)))
}
