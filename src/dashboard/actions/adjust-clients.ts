import { adjustments } from '../../limiter/adjust-limiter.js'
import { bansAmong } from '../../limiter/change-parts.js'
import { subjectOfKeys } from '../../limiter/decision.js'
import type { NamedPart } from '../../limiter/receipt.js'
import type { Limit } from '../../limiter/resolve-parts.js'
import { groupBy } from '../../util/group-by.js'
import type { Watched } from '../figures/limiter-watch.js'
import { limitsInUse } from './limits-in-use.js'
import { partsOf } from './lookup.js'

/** How many clients are changed at a time: each may have several keys. */
const AT_ONCE = 100

/** A limit from a policy function is known once the function has returned it. */
const FIX_BLOCK = 'Block the client after its next request.'

/** Forgets what identities have used of a limiter, which also ends their bans. Rejects if the store failed. */
export async function releaseIdentities(watched: Watched, texts: readonly string[]): Promise<void> {
  if (texts.length === 0) return
  const limits = await limitsInUse(watched.inspection)
  const { forget } = adjustments(watched.limiter)
  const keysOf = keyFinder(watched, limits)
  await forEach(texts, (text) => forget(subjectOfKeys(keysOf(text))))
}

/**
 * Blocks identities in those limits of a limiter that are bans, under each spelling that they may use.
 * Rejects with a `TypeError` if there are none, or if the block is longer than one of them can be.
 */
export async function blockIdentities(
  watched: Watched,
  texts: readonly string[],
  durationMs: number,
): Promise<void> {
  const limits = await limitsInUse(watched.inspection)
  if (limits.length === 0)
    throw new TypeError(`dashboard: ${watched.name} has had no request yet. ${FIX_BLOCK}`)
  bansAmong('dashboard', limits, durationMs) // throws
  const { blockFor } = adjustments(watched.limiter)
  const keysOf = keyFinder(watched, limits)
  await forEach(texts, (text) => blockFor(subjectOfKeys(keysOf(text)), durationMs))
}

async function forEach(texts: readonly string[], change: (text: string) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < texts.length; i += AT_ONCE) await Promise.all(texts.slice(i, i + AT_ONCE).map(change))
}

/** Returns what finds all keys that an identity may have in a limiter, each once. */
function keyFinder(watched: Watched, limits: readonly Limit[]): (text: string) => readonly NamedPart[] {
  const [scopes, findWrittenOut] = [limitsOfKeys(limits), watched.writtenOut?.()]
  return (text) => partsOf(watched, text, scopes, findWrittenOut)
}

/**
 * Returns one limit for each scope of keys: the one with the longest ban, which keeps a record for longest.
 */
function limitsOfKeys(limits: readonly Limit[]): readonly Limit[] {
  const scopes = groupBy(limits, ({ scope }) => scope)
  const banOf = ({ policy }: Limit) => policy.longestBanMs ?? 0
  return Array.from(scopes.values(), (group) => group.reduce((a, b) => (banOf(b) > banOf(a) ? b : a)))
}
