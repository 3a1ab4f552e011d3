import { fixedWindow } from '../../../../src/policies/fixed-window.js'
import type { Policy } from '../../../../src/policies/policy.js'
import { slidingLog } from '../../../../src/policies/sliding-log.js'
import { slidingWindow } from '../../../../src/policies/sliding-window.js'
import { tokenBucket } from '../../../../src/policies/token-bucket.js'

/** A policy of the page: what runs, and how it is written. */
export interface ShownPolicy {
  readonly title: string
  readonly note: string
  readonly code: string
  readonly policy: Policy
  /** Whether its windows end on the clock, for all clients at once. */
  readonly hasBorders?: true
}

/** All of them allow ten requests in ten seconds. */
export const SHOWN: readonly ShownPolicy[] = [
  {
    title: 'Token bucket',
    note: 'Ten at once, then one a second.',
    code: "tokenBucket({ capacity: 10, refill: 10, every: '10s' })",
    policy: tokenBucket({ capacity: 10, refill: 10, every: '10s' }),
  },
  {
    title: 'Sliding window',
    note: 'Frees what is older than ten seconds, in slices.',
    code: "slidingWindow({ limit: 10, window: '10s' })",
    policy: slidingWindow({ limit: 10, window: '10s' }),
  },
  {
    title: 'Sliding log',
    note: 'Never more than ten in any ten seconds.',
    code: "slidingLog({ limit: 10, window: '10s' })",
    policy: slidingLog({ limit: 10, window: '10s' }),
  },
  {
    title: 'Fixed window',
    note: 'All ten come back when the window ends.',
    code: "fixedWindow({ limit: 10, window: '10s' })",
    policy: fixedWindow({ limit: 10, window: '10s' }),
    hasBorders: true,
  },
]
