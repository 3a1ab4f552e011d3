import { consecutive } from '../../policies/consecutive.js'
import { fixedWindow } from '../../policies/fixed-window.js'
import type { Policy } from '../../policies/policy.js'
import { quota } from '../../policies/quota.js'
import { slidingLog } from '../../policies/sliding-log.js'
import { slidingWindow } from '../../policies/sliding-window.js'
import { tokenBucket } from '../../policies/token-bucket.js'

/** Longer than any test takes, also against a real clock. */
export const LONG = '1000d'

export type PolicyMaker = (limit: number) => Policy

const FROM_FIRST_REQUEST = 'fixedWindow from the first request'

/** Every policy, with a window that no test sees the end of. */
export const LONG_POLICIES: readonly (readonly [string, PolicyMaker])[] = [
  ['tokenBucket', (limit) => tokenBucket({ capacity: limit, refill: limit, every: LONG })],
  ['slidingWindow', (limit) => slidingWindow({ limit, window: LONG })],
  ['fixedWindow', (limit) => fixedWindow({ limit, window: LONG })],
  ['consecutive', (limit) => consecutive({ limit })],
]

/**
 * These, the other kind of fixed window, a quota whose year ends in three to nine months, and the log, whose
 * limit is at most 1,000.
 */
export const LONG_KINDS: typeof LONG_POLICIES = [
  ...LONG_POLICIES,
  [FROM_FIRST_REQUEST, (limit) => fixedWindow({ limit, window: LONG, startsAt: 'first-request' })],
  ['quota', (limit) => quota({ limit, per: 'year', startsOn: isSummer() ? '01-01' : '07-01' })],
  ['slidingLog', (limit) => slidingLog({ limit, window: LONG })],
]

function isSummer(): boolean {
  const month = new Date().getUTCMonth() + 1
  return month >= 4 && month <= 9
}

/**
 * Every kind of policy that time refills, with a window that a test against a real clock can wait for. Some
 * of it, or all, may be over by the next call.
 */
export const SHORT_KINDS: typeof LONG_POLICIES = [
  ['tokenBucket', (limit) => tokenBucket({ capacity: limit, refill: limit, every: '200ms' })],
  ['slidingWindow', (limit) => slidingWindow({ limit, window: '200ms' })],
  ['slidingLog', (limit) => slidingLog({ limit, window: '200ms' })],
  ['fixedWindow', (limit) => fixedWindow({ limit, window: '200ms' })],
  [FROM_FIRST_REQUEST, (limit) => fixedWindow({ limit, window: '200ms', startsAt: 'first-request' })],
]
