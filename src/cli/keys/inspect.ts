import type { Policy } from '../../policies/policy.js'
import { isoTime } from '../output.js'
import type { StoreConnection } from './connection.js'
import { policyText } from './policy-text.js'
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
  /** The policy that wrote the key last, in words. */
  readonly policy: string
  /** Units left, and the limit. `null` for `concurrency`, whose limit is not stored. */
  readonly remaining: number | null
  readonly of: number | null
  /** Units in use of `concurrency`; `null` for other policies. */
  readonly inUse: number | null
  /** Why the identity is limited; `null` if it is not, and for `concurrency`. */
  readonly limited: 'banned' | 'exhausted' | null
  /** For how long, and until when. `null` if it is not limited, and if time alone does not end it. */
  readonly limitedForMs: number | null
  readonly limitedUntil: string | null
  /** How many bans there were in a row; `null` if the policy is not a ban. */
  readonly bans: number | null
  /** How many denials count for the next ban, and until when. `null` if the policy is not a ban. */
  readonly denials: number | null
  readonly denialsUntil: string | null
  /** When nothing counts any more except `bans`. `null` if time alone does not bring that about. */
  readonly freshAt: string | null
}

/** How many keys are read at a time. */
const READ_TOGETHER = 100

/** Reads what keys have left. Those that are limited for longest come first. */
export async function readStandings(
  connection: StoreConnection,
  keys: readonly FoundKey[],
): Promise<StandingReport[]> {
  const standings: StandingReport[] = []
  for (let i = 0; i < keys.length; i += READ_TOGETHER) {
    const read = keys.slice(i, i + READ_TOGETHER).map((found) => readOne(connection, found))
    for (const standing of await Promise.all(read)) if (standing !== undefined) standings.push(standing)
  }
  return standings.sort((a, b) => limitedMs(b) - limitedMs(a))
}

async function readOne(connection: StoreConnection, found: FoundKey): Promise<StandingReport | undefined> {
  const stored = await readState(connection, found)
  if (stored === undefined) return undefined
  const { atMs, policy, state, record } = stored
  const { isBan, anyPolicy } = found.limit
  const { remaining, moreAfterMs, resetAfterMs } = policy.take(state, atMs, 0)
  const bannedForMs = Math.max(0, record.bannedUntilMs - atMs)
  const isBanned = bannedForMs > 0
  const freshAfterMs = Math.max(resetAfterMs, bannedForMs, record.strikesUntilMs - atMs)
  if (freshAfterMs === 0 && record.level === 0) return undefined // it is about to expire
  const limited = isBanned ? 'banned' : remaining === 0 && !policy.holdsUnits ? 'exhausted' : null
  const forMs = limited === null ? Number.NaN : isBanned ? bannedForMs : moreAfterMs
  return {
    ...keyReport(found.limit, found.identity),
    policy: policyText(policy, isBan, anyPolicy.spec.kind),
    ...unitsOf(policy, isBanned ? 0 : remaining),
    limited,
    limitedForMs: Number.isFinite(forMs) ? Math.ceil(forMs) : null,
    limitedUntil: isoTime(atMs + forMs),
    ...(isBan ? recordOf(stored) : { bans: null, denials: null, denialsUntil: null }),
    freshAt: isoTime(atMs + freshAfterMs),
  }
}

function unitsOf(
  { holdsUnits, limit }: Policy,
  remaining: number,
): Pick<StandingReport, 'remaining' | 'of' | 'inUse'> {
  if (holdsUnits) return { remaining: null, of: null, inUse: limit - remaining }
  return { remaining, of: limit, inUse: null }
}

function recordOf({
  atMs,
  record: { level, strikes, strikesUntilMs },
}: StoredState): Pick<StandingReport, 'bans' | 'denials' | 'denialsUntil'> {
  if (strikesUntilMs <= atMs) return { bans: level, denials: 0, denialsUntil: null }
  return { bans: level, denials: strikes, denialsUntil: isoTime(strikesUntilMs) }
}

/** Returns how reports name a key. */
export function keyReport({ limiter, limit, isCandidate }: StoredLimit, identity: string): KeyReport {
  return { limiter, limit: limit ?? null, candidate: isCandidate, identity }
}

function limitedMs({ limited, limitedForMs }: StandingReport): number {
  return limited === null ? 0 : (limitedForMs ?? Number.MAX_VALUE)
}
