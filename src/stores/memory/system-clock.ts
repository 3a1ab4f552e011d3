import type { Policy } from '../../policies/policy.js'
import { weakMemo } from '../../util/memo.js'
import type { Operation } from '../operation.js'

/** How long the distance of the two clocks is remembered. */
const REMEMBERED_MS = 100

/** Gives policies that count in periods of a calendar the time of the system clock. */
export interface SystemClock {
  /** Returns the policy that takes the store's times, and decides by the system clock. */
  policyOf(policy: Policy): Policy
  /** Returns an operation with such policies. */
  operationOf(operation: Operation): Operation
  /** Returns how far the system clock is ahead at a time of the store's clock. */
  aheadAt(nowMs: number): number
}

/**
 * Creates the system clock beside a store's clock, which never steps. After the system clock was set, or the
 * machine was suspended, the two differ, and only the system clock knows when a day ends.
 */
export function systemClock(storeNow: () => number, systemNow: () => number = Date.now): SystemClock {
  let aheadMs = 0
  let readAtMs = Number.NEGATIVE_INFINITY

  function aheadAt(nowMs: number): number {
    if (nowMs - readAtMs >= REMEMBERED_MS) {
      aheadMs = systemNow() - storeNow()
      readAtMs = nowMs
    }
    return aheadMs
  }

  const shifted = weakMemo((policy: Policy) => policy.shift?.(policy, aheadAt) ?? policy)

  const policyOf = (policy: Policy) => (policy.shift === undefined ? policy : shifted(policy))

  function operationOf(operation: Operation): Operation {
    if (operation.type !== 'charge') return withPolicy(operation)
    const { parts } = operation
    return parts.every(({ policy }) => policy.shift === undefined)
      ? operation
      : { ...operation, parts: parts.map(withPolicy) }
  }

  function withPolicy<T extends { readonly policy: Policy }>(keyed: T): T {
    return keyed.policy.shift === undefined ? keyed : { ...keyed, policy: policyOf(keyed.policy) }
  }

  return { policyOf, operationOf, aheadAt }
}
