import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { once } from '../util/memo.js'
import type { Policy } from './policy.js'
import { bucketOfLimit } from './token-bucket.js'

/** When to retry a charge that only undecided units denied. */
export const UNDECIDED_RETRY_MS = 1000
/** How many disputed denials of a limit are excused in as many retry times. */
const EXCUSES = 10
/** Appended to the key of a limit, so that the keys have the same slot in a Redis Cluster. */
const EXCUSE_SUFFIX = '!'

/**
 * Why a part was denied.
 *
 * - `'decided'`: by units of known outcome, or by a ban.
 * - `'undecided'`: without the undecided units, it would have been allowed.
 * - `'disputed'`: the same, but at least half of the limit is in use by units of known outcome.
 */
export type Cause = 'decided' | 'undecided' | 'disputed'

/** A part of a denied charge. */
export interface DeniedPart {
  readonly key: string
  readonly policy: Policy
  /** `undefined` if other parts denied the charge. */
  readonly cause: Cause | undefined
  readonly isBanned: boolean
}

/** Charges units of keys. Returns whether all were allowed. */
type ChargeExcuses = (
  excuses: readonly { readonly key: string; readonly policy: Policy; readonly cost: number }[],
) => MaybePromise<boolean>

export type JudgeDenials = typeof judgeDenials

/**
 * Returns for each part of a denied charge whether its ban counts the denial. A ban counts denials by units of
 * known outcome, and disputed denials without an excuse.
 */
export function judgeDenials(
  denied: readonly DeniedPart[],
  charge: ChargeExcuses,
): MaybePromise<readonly boolean[]> {
  const disputed = denied.filter(({ policy, cause }) => policy.uncounted && cause === 'disputed')
  return thenMaybe(disputed.length === 0 || charge(disputed.map(excuseOf)), (areExcused) =>
    denied.map(({ policy, cause, isBanned }) => {
      const isDecided = cause === 'decided' || (cause === 'disputed' && !areExcused)
      return policy.uncounted !== undefined && isDecided && (!isBanned || restarts(policy))
    }),
  )
}

/**
 * Returns the charge that excuses one denial of a part. A client that waits for `UNDECIDED_RETRY_MS` before
 * each retry never runs out of excuses.
 */
function excuseOf({ key }: DeniedPart) {
  return { key: key + EXCUSE_SUFFIX, policy: excusePolicy(), cost: 1 }
}

const excusePolicy = once(() => bucketOfLimit('excuses', EXCUSES, EXCUSES * UNDECIDED_RETRY_MS))

/** Returns whether an attempt during a ban restarts the ban. */
function restarts({ spec }: Policy): boolean {
  return spec.kind === 'ban' && spec.onAttempt === 'restart'
}
