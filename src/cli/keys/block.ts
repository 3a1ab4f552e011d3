import { DEFAULT_IPV6_PREFIX } from '../../keys/source-address.js'
import type { Policy } from '../../policies/policy.js'
import { MAX_DURATION_MS } from '../../util/durations.js'
import { InputError } from '../failures.js'
import type { BlockSettings } from './arguments.js'
import type { StoreConnection } from './connection.js'
import type { PublishedPolicies } from './published-policies.js'
import { listText } from './report-text.js'
import type { FoundKey, SearchResult } from './search.js'
import { fullName, keyOf, policyFor, type StoredLimit, shapeOf } from './stored-limit.js'

/** What a ban is made of. */
type Ban = Pick<BlockSettings, 'spellings' | 'spellingsWith' | 'banMs'>

/**
 * Bans an identity as `limiter.blockFor` does: in each limit whose policy is a ban, and whose keys can be
 * those of such an identity. Where it has no key yet, all of its spellings of the right kind are banned:
 * whichever of them the limit uses, the others are unowned keys. Returns the keys.
 */
export async function blockIdentity(
  connection: StoreConnection,
  found: SearchResult,
  policies: PublishedPolicies,
  settings: Ban,
): Promise<readonly FoundKey[]> {
  const bans = bansAmong(found)
  const keys = bans.flatMap((limit) => keysToBan(limit, found, settings))
  if (keys.length === 0) {
    throw new InputError(
      `the keys of ${listText(bans.map(fullName))} have identities of another kind: pass the identity that inspect shows as "stored as"`,
    )
  }
  for (const each of keys)
    await blockKey(connection, each, policies.get(each.limit)?.[0]?.policy, settings.banMs)
  return keys
}

/**
 * Bans a key. How long its record is kept depends on the longest ban of the limit, which the store does not
 * have. So assumes one that does not shorten the time for which the key is kept.
 */
async function blockKey(
  connection: StoreConnection,
  { key, limit }: FoundKey,
  policy: Policy | undefined,
  banMs: number,
): Promise<void> {
  const keptMs = Number(await connection.send('pttl', key)) // negative if it is missing, or never expires
  const longestBanMs = Math.min(Math.max(banMs, keptMs), MAX_DURATION_MS)
  const ban = policyFor(limit, policy, longestBanMs)
  await connection.applyOne({ type: 'block', key, policy: ban, forMs: banMs })
}

/** Returns the limits in force whose policies are bans. Throws if there are none. */
function bansAmong({ limits }: SearchResult): readonly StoredLimit[] {
  const stored = Array.from(limits.keys())
  const bans = stored.filter(({ isBan, isCandidate }) => isBan && !isCandidate)
  if (bans.length > 0) return bans
  const fix = "wrap a policy, such as ban(policy, { after: 10, within: '1m', for: '1h' })"
  const names = stored.length === 0 ? '' : ` among ${listText(stored.map(fullName))}`
  throw new InputError(`block requires a limit whose policy is a ban, and the store has none${names}: ${fix}`)
}

/** Returns the keys of an identity that exist under a limit, or those that it may have. */
function keysToBan(limit: StoredLimit, found: SearchResult, { spellings, spellingsWith }: Ban): FoundKey[] {
  const existing = found.keys.filter((each) => each.limit === limit && spellings.includes(each.identity))
  if (existing.length > 0) return existing
  const shapes = found.limits.get(limit) ?? new Set<string>()
  const prefixes = Array.from(shapes).flatMap(networkPrefix)
  return spellingsWith(prefixes.length > 0 ? prefixes : [DEFAULT_IPV6_PREFIX])
    .filter((spelling) => isPossible(shapeOf(spelling), shapes, prefixes))
    .map((identity) => ({ limit, identity, key: keyOf(limit, identity) }))
}

/** Returns whether a limit with keys of some kinds may have one of another: addresses are of two kinds. */
function isPossible(shape: string, shapes: ReadonlySet<string>, prefixes: readonly number[]): boolean {
  if (shapes.has(shape)) return true
  if (shape === 'ipv4') return prefixes.length > 0
  return prefixes.length === 0 && shapes.has('ipv4') && networkPrefix(shape).length > 0
}

/** Returns the length of a network's prefix, in an array; an empty one for another kind of identity. */
function networkPrefix(shape: string): number[] {
  const [, prefix] = /^ipv6\/(\d+)$/.exec(shape) ?? []
  return prefix === undefined ? [] : [Number(prefix)]
}
