import { strikesUntilMs } from '../../policies/ban-escalation.js'
import { isoTime } from '../output.js'
import type { StoreConnection } from './connection.js'
import { kindText, policyText } from './policy-text.js'
import type { PublishedPolicies, PublishedPolicy } from './published-policies.js'
import type { FoundKey } from './search.js'
import type { StoredLimit } from './stored-limit.js'
import { readState, type StoredState } from './stored-state.js'

/** A key of a limit, as reports name it. */
export interface KeyReport {
  readonly limiter: string
  /** The name of the limit, if the limiter has several; otherwise `null`. */
  readonly limit: string | null
  readonly candidate: boolean
  /** The identity as it is stored. */
  readonly identity: string
}

/** What a key has left, as `--json` prints it. Times are in ISO 8601 and UTC, by the clock of the store. */
export interface StandingReport extends KeyReport {
  /** The policy in words. */
  readonly policy: string
  /** Units left, and the limit. `null` if the limiter has not published the limit. */
  readonly remaining: number | null
  readonly of: number | null
  /**
   * Units in use of `concurrency`, and of other policies whose limit is not published: then those in use at the
   * last charge. Otherwise `null`.
   */
  readonly inUse: number | null
  /** Why the identity is limited; `null` if it is not, if that is not known, and for `concurrency`. */
  readonly limited: 'banned' | 'exhausted' | null
  /** For how long, and until when. `null` if it is not limited, and if time alone does not end it. */
  readonly limitedForMs: number | null
  readonly limitedUntil: string | null
  /** How many bans there were in a row; `null` if the policy is not a ban. */
  readonly bans: number | null
  /**
   * How many denials count for the next ban, and until when. `null` if the policy is not a ban. If the limit is
   * not published, `denials` is how many counted at the last denial, and `denialsUntil` is `null`.
   */
  readonly denials: number | null
  readonly denialsUntil: string | null
  /**
   * When nothing counts any more except `bans`. `null` if time alone does not bring that about, and if the limit
   * is not published.
   */
  readonly freshAt: string | null
}

/** How many keys are read at a time. */
const READ_TOGETHER = 100

/** Reads what keys have left, under each of several plans. Those that are limited for longest come first. */
export async function readStandings(
  connection: StoreConnection,
  keys: readonly FoundKey[],
  policies: PublishedPolicies,
): Promise<StandingReport[]> {
  const standings: StandingReport[] = []
  for (let i = 0; i < keys.length; i += READ_TOGETHER) {
    const read = keys.slice(i, i + READ_TOGETHER).map(async (found) => {
      const stored = await readState(connection, found)
      if (stored === undefined) return []
      const published = policies.get(found.limit)
      return (published ?? [undefined]).flatMap((each) => standingOf(found, stored, each) ?? [])
    })
    for (const ofKey of await Promise.all(read)) standings.push(...ofKey)
  }
  return standings.sort((a, b) => limitedMs(b) - limitedMs(a))
}

/** Returns what a key has left under a policy; `undefined` if it is about to expire. */
function standingOf(
  found: FoundKey,
  stored: StoredState,
  published: PublishedPolicy | undefined,
): StandingReport | undefined {
  const { atMs, state, record } = stored
  const { isBan, anyPolicy } = found.limit
  const { policy = anyPolicy, withinMs = Number.POSITIVE_INFINITY } = published ?? {}
  const { remaining, moreAfterMs, resetAfterMs, debt = 0 } = policy.take(state, atMs, 0)
  const isCounting = policy.holdsUnits || published === undefined
  const bannedForMs = Math.max(0, record.bannedUntilMs - atMs)
  const isBanned = bannedForMs > 0
  const denialsUntilMs = strikesUntilMs({ withinMs }, record)
  const freshAfterMs = Math.max(resetAfterMs, bannedForMs, denialsUntilMs - atMs)
  if (freshAfterMs === 0 && record.level === 0) return undefined
  const limited = isBanned ? 'banned' : remaining === 0 && !isCounting ? 'exhausted' : null
  const forMs = limited === null ? Number.NaN : isBanned ? bannedForMs : moreAfterMs
  return {
    ...keyReport(found.limit, found.identity),
    policy: published === undefined ? kindText(policy, isBan) : policyText(policy, isBan),
    remaining: published === undefined ? null : isBanned ? 0 : remaining,
    of: published?.policy.limit ?? null,
    inUse: isCounting ? policy.limit - remaining + debt : null,
    limited,
    limitedForMs: Number.isFinite(forMs) ? Math.ceil(forMs) : null,
    limitedUntil: isoTime(atMs + forMs),
    ...(isBan ? recordOf(stored, denialsUntilMs) : { bans: null, denials: null, denialsUntil: null }),
    freshAt: published === undefined ? null : isoTime(atMs + freshAfterMs),
  }
}

function recordOf(
  { atMs, record: { level, strikes } }: StoredState,
  denialsUntilMs: number,
): Pick<StandingReport, 'bans' | 'denials' | 'denialsUntil'> {
  if (denialsUntilMs <= atMs) return { bans: level, denials: 0, denialsUntil: null }
  return { bans: level, denials: strikes, denialsUntil: isoTime(denialsUntilMs) }
}

/** Returns how reports name a key. */
export function keyReport({ limiter, limit, isCandidate }: StoredLimit, identity: string): KeyReport {
  return { limiter, limit: limit ?? null, candidate: isCandidate, identity }
}

function limitedMs({ limited, limitedForMs }: StandingReport): number {
  return limited === null ? 0 : (limitedForMs ?? Number.MAX_VALUE)
}
