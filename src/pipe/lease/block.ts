import type { Policy } from '../../policies/policy.js'
import { MAX_PREPAID_SHARE, type Prepaid } from '../../policies/prepaid.js'
import type { ChargeResult, KeyedPolicy, PartResult, Refund } from '../../stores/operation.js'

/** A key whose units are leased. */
export interface LeasedKey extends KeyedPolicy {
  readonly prepaid: Prepaid
  /** The longest time that units are held, in milliseconds since they were requested. */
  readonly holdMs: number
}

/**
 * Returns how many units of a limit one of `processes` leases at once: the units charged during the last
 * hold (`recentUnits`), capped at this process's share of what all processes may hold together.
 */
export function blockSize({ limit }: Policy, processes: number, recentUnits = Number.POSITIVE_INFINITY) {
  return Math.min(recentUnits, Math.floor((limit * MAX_PREPAID_SHARE) / processes))
}

/** Prepaid units of one key. */
export type PrepaidBlock = ReturnType<typeof prepaidBlock>

/**
 * Creates a block of the units that the store's result (the last argument) allowed. All `nowMs` are by this
 * process's clock. The store's time is estimated from `sinceMs`, when the store was called. The store took
 * the units later than that, so no unit is used after the policy still allows it.
 */
export function prepaidBlock(
  { key, policy, prepaid, holdMs }: LeasedKey,
  units: number,
  sinceMs: number,
  { atMs: takenAtMs, parts }: ChargeResult,
) {
  const figures = parts[0] as PartResult
  const resetAtMs = takenAtMs + figures.resetAfterMs
  let left = units

  /** Returns how many units may still be used: 0 once the block has expired. */
  function usableAt(nowMs: number): number {
    const ageMs = nowMs - sinceMs
    if (left === 0 || ageMs >= holdMs) return 0
    return prepaid.usable(left, takenAtMs + ageMs, takenAtMs, resetAtMs)
  }

  /** Admits a charge of `cost`, if that many units may be used. */
  function consume(cost: number, nowMs: number): ChargeResult | undefined {
    const usable = usableAt(nowMs)
    if (cost > usable) return undefined
    left = usable - cost
    const ageMs = nowMs - sinceMs
    const part: PartResult = {
      allowed: true,
      remaining: figures.remaining + left,
      resetAfterMs: Math.max(0, figures.resetAfterMs - ageMs),
      retryAfterMs: 0,
      moreAfterMs: Math.max(0, figures.moreAfterMs - ageMs),
    }
    return { type: 'charge', allowed: true, source: 'lease', atMs: takenAtMs + ageMs, parts: [part] }
  }

  /**
   * Returns a refund of the unused units, without those that a refill restores; `undefined` if there are
   * none.
   */
  function refundAt(nowMs: number): Refund | undefined {
    const cost = prepaid.returnable(left, takenAtMs + nowMs - sinceMs, holdMs, resetAtMs)
    return cost === 0 ? undefined : { type: 'refund', key, policy, cost, takenAtMs, resetAtMs }
  }

  return { usableAt, consume, refundAt }
}
