import { wrongKind } from '../util/validate.js'
import type { createCandidate } from './candidate/candidate.js'
import type { CandidateOptions } from './options.js'
import type { Entry } from './read-limits.js'

/** A registered symbol, so that another copy of this package reads the candidates of this one. */
export const CANDIDATE: unique symbol = Symbol.for('headgate.candidate') as never

/** Limits to try, which `candidateLimits` returns. */
export interface CandidateLimits<Subject> {
  readonly [CANDIDATE]: { readonly options: CandidateOptions<Subject> }
}

/**
 * The code for candidates. `candidateLimits` brings it, so limiters without a candidate do not bundle it.
 */
export interface CandidateSource {
  /** Reads the limits. `owner` and `option` are the names in errors. */
  read(owner: string, option: string): readonly Entry[]
  readonly create: typeof createCandidate
}

/** The candidate of a limiter's options. */
export interface CandidateSettings extends Pick<CandidateSource, 'create'> {
  readonly entries: readonly Entry[]
}

/** Reads the option `candidate`. Throws a `TypeError` for a value that is not from `candidateLimits`. */
export function readCandidateOption(owner: string, option: string, value: unknown): CandidateSettings {
  if (typeof value === 'object' && value !== null && CANDIDATE in value) {
    const { read, create } = value[CANDIDATE] as CandidateSource
    return { entries: read(owner, option), create }
  }
  const fix = "Write candidate: candidateLimits({ limit: 50, window: '1m' })."
  throw wrongKind(owner, option, 'what candidateLimits returns', value, fix)
}

/**
 * Returns the limits of a candidate. A limit without `key`, `cost` or `skip` inherits it from the limit in
 * force with the same name. If there is none, it inherits it from the first limit. So a candidate tries
 * other numbers for the same clients.
 */
export function withKeysOf(entries: readonly Entry[], candidate: readonly Entry[]): readonly Entry[] {
  return candidate.map((entry) => {
    const inForce = entries.find(({ entryName }) => entryName === entry.entryName) ?? entries[0]
    const { key = inForce?.key, cost = inForce?.cost, skip = inForce?.skip } = entry
    return { ...entry, key, cost, skip }
  })
}
