import { readImported } from '../options/imported-option.js'
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
  /**
   * Reads the limits. `owner` and `option` are the names in errors. Returns a function that completes them by
   * the limits in force.
   */
  read(owner: string, option: string): (inForce: readonly Entry[]) => readonly Entry[]
  readonly create: typeof createCandidate
}

/** The candidate of a limiter's options. */
export interface CandidateSettings extends Pick<CandidateSource, 'create'> {
  readonly entriesBeside: ReturnType<CandidateSource['read']>
}

/** Reads the option `candidate`. Throws a `TypeError` for a value that is not from `candidateLimits`. */
export function readCandidateOption(owner: string, option: string, value: unknown): CandidateSettings {
  const source = readImported(
    owner,
    option,
    value,
    CANDIDATE,
    'candidateLimits',
    "{ limit: 50, window: '1m' }",
  )
  const { read, create } = source as CandidateSource
  return { entriesBeside: read(owner, option), create }
}
