import { spellingsOf } from '../../keys/spellings.js'
import { shownIdentity } from '../../keys/value-identity.js'
import type { Listing } from '../../limiter/access-rules.js'
import type { Inspection } from '../../limiter/inspection.js'
import type { NamedPart } from '../../limiter/receipt.js'
import { type Limit, partOf } from '../../limiter/resolve-parts.js'
import type { Standing } from '../../stores/operation.js'
import { messageOf } from '../../stores/store-error.js'
import type { Watched } from '../figures/limiter-watch.js'
import { longestBlockOf } from '../figures/longest-block.js'
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

/** Returns whether a client can have an identity that a person typed. */
export function canBeIdentity(text: string): boolean {
  return spellingsOf(text, { secret: undefined }).length > 0
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

/**
 * Returns the parts of limits for an identity in each spelling that a limiter may use. For many identities, make
 * `findWrittenOut` once.
 */
export function partsOf(
  watched: Watched,
  text: string,
  limits: readonly Limit[],
  findWrittenOut = watched.writtenOut?.(),
): readonly NamedPart[] {
  const { secret, isLocal } = watched.inspection
  const listed = findWrittenOut?.(text.trim())
  const spellings = [...spellingsOf(text, { secret, isLocal }), ...(listed === undefined ? [] : [listed])]
  return limits.flatMap((limit) => spellings.map((spelling) => partOf(limit, spelling, 0)))
}
