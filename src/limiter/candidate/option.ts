import type { Policy } from '../../policies/policy.js'
import type { FrameworkTypes } from '../../util/framework-types.js'
import { readCandidate } from '../candidate-options.js'
import { CANDIDATE, type CandidateLimits, type CandidateSource } from '../candidate-source.js'
import type { CandidateOptions } from '../options.js'
import { createCandidate } from './candidate.js'
import { withKeysOf } from './inherited-keys.js'

/** Limits that ask no function, which fit each limiter. */
type FixedLimits = CandidateOptions<unknown> & {
  readonly key?: undefined
  readonly cost?: number
  readonly policy?: Policy
  readonly limits?: undefined
}

/** The type of `candidateLimits` in a framework. Without annotations, callbacks take the framework's requests. */
export type MakeCandidateLimits<F extends FrameworkTypes> = {
  (options: FixedLimits): CandidateLimits<unknown>
  <Subject = F['request']>(options: CandidateOptions<Subject>): CandidateLimits<Subject>
}

/**
 * Creates limits to try beside those in force, for the option `candidate`. They deny no request, and
 * `limiter.candidateReport()` says what they would have done. A limit without `key`, `cost` or `skip`
 * inherits it from the limit in force with the same name. If there is none, it inherits it from the first
 * limit.
 *
 * @example
 * ```ts
 * import { candidateLimits, rateLimit, slidingWindow } from 'headgate'
 *
 * const api = rateLimit({
 *   limit: 1000,
 *   window: '1h',
 *   candidate: candidateLimits({ policy: slidingWindow({ limit: 500, window: '1h' }) }),
 * })
 * ```
 */
export function candidateLimits<Subject>(options: CandidateOptions<Subject>): CandidateLimits<Subject> {
  const source: CandidateSource & { readonly options: CandidateOptions<Subject> } = {
    options,
    read(owner, option) {
      const entries = readCandidate(owner, option, options)
      return (inForce) => withKeysOf(inForce, entries)
    },
    create: createCandidate,
  }
  return { [CANDIDATE]: source }
}
