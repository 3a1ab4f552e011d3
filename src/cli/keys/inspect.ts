import { type KeyStanding, readStanding } from '../../stores/shared/read-standing.js'
import { isoTime } from '../output.js'
import type { StoreConnection } from './connection.js'
import { policyText } from './policy-text.js'
import type { FoundKey } from './search.js'
import type { StoredLimit } from './stored-limit.js'

/** A key of a limit, as reports name it. */
export interface KeyReport {
  readonly limiter: string
  /** The name of the limit, if the limiter has several; otherwise `null`. */
  readonly limit: string | null
  readonly candidate: boolean
  /** The policy in words. */
  readonly policy: string
  /** The identity as it is stored. */
  readonly identity: string
}

/**
 * What a key has left, as `--json` prints it. Times are in ISO 8601 and UTC, by the clock of this machine.
 */
export interface StandingReport extends KeyReport {
  readonly remaining: number
  readonly of: number
  /** Why the identity is limited; `null` if it is not. */
  readonly limited: 'banned' | 'exhausted' | null
  /** For how long, and until when. `null` if it is not limited, and if time alone does not end it. */
  readonly limitedForMs: number | null
  readonly limitedUntil: string | null
  /** When nothing counts any more, denials included. `null` if time alone does not bring that about. */
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

async function readOne(
  connection: StoreConnection,
  { limit, identity, key }: FoundKey,
): Promise<StandingReport | undefined> {
  const standing = await readStanding((take) => connection.applyOne(take), { key, policy: limit.policy })
  if (standing === undefined) return undefined // it has expired meanwhile
  const { remaining, limit: of, resetAfterMs } = standing
  const nowMs = Date.now()
  const limited = reasonOf(standing)
  const forMs = limited === null ? Number.NaN : limitedForMs(standing, limit)
  return {
    ...keyReport(limit, identity),
    remaining,
    of,
    limited,
    limitedForMs: Number.isFinite(forMs) ? Math.ceil(forMs) : null,
    limitedUntil: isoTime(nowMs + forMs),
    freshAt: isoTime(nowMs + resetAfterMs),
  }
}

/** Returns how reports name a key. */
export function keyReport({ limiter, limit, isCandidate, policy }: StoredLimit, identity: string): KeyReport {
  return { limiter, limit: limit ?? null, candidate: isCandidate, policy: policyText(policy), identity }
}

function reasonOf({ bannedForMs, remaining }: KeyStanding): StandingReport['limited'] {
  if (bannedForMs > 0) return 'banned'
  return remaining === 0 ? 'exhausted' : null
}

/** Returns how long a standing stays limited. No one can know when units in use are released. */
function limitedForMs({ bannedForMs, moreAfterMs }: KeyStanding, { policy }: StoredLimit): number {
  if (policy.holdsUnits) return Number.POSITIVE_INFINITY
  return bannedForMs > 0 ? bannedForMs : moreAfterMs
}

function limitedMs({ limited, limitedForMs }: StandingReport): number {
  return limited === null ? 0 : (limitedForMs ?? Number.MAX_VALUE)
}
