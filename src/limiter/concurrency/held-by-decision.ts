import type { Policy } from '../../policies/policy.js'
import type { ChargeResult, Part } from '../../stores/operation.js'
import type { StoreError } from '../../stores/store-error.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { type Decision, receiptOf } from '../decision.js'
import type { Apply, Receipt } from '../receipt.js'

/** The units of concurrency limits that the decisions of a limiter hold. */
export interface Holdings {
  /** Holds what a charge has taken of concurrency limits. */
  hold(receipt: Receipt): void
  /** Renews what is due, as at each tick. */
  renewDue(): void
  /** Releases units of a charge whose result came after the time-out. */
  releaseLate(parts: readonly Part[], result: ChargeResult, apply: Apply): void
  /** Releases everything. Rejects with the first error, after trying all. */
  releaseAll(): Promise<void>
}

/** Creates the holdings of a limiter. `onReleaseFailed` gets the failures that no caller sees. */
export type CreateHoldings = (
  onRenewalFailed: (error: StoreError) => void,
  onReleaseFailed: (error: unknown) => void,
) => Holdings

/** The key of what limiters hold a policy's units with. Copies of a policy keep it. */
export const HOLDINGS = Symbol.for('headgate.holdings')

/** A policy that brings the code that holds its units, so that bundles without `concurrency` do not have it. */
export interface HoldingPolicy extends Policy {
  readonly [HOLDINGS]: CreateHoldings
}

/** Returns what creates the holdings of a policy's units; `undefined` if the policy does not bring it. */
export function createHoldingsOf(policy: Policy): CreateHoldings | undefined {
  const { [HOLDINGS]: create }: Partial<HoldingPolicy> = policy
  return create
}

/**
 * Returns a function that returns the holdings of a limiter, if it has any. The first policy among `parts` that
 * holds units creates them.
 */
export function holdingsOnDemand(...listeners: Parameters<CreateHoldings>) {
  let holdings: Holdings | undefined
  return function holdingsOf(parts: readonly Part[] = []): Holdings | undefined {
    if (holdings !== undefined) return holdings
    const part = parts.find(({ policy }) => policy.holdsUnits)
    holdings = part && createHoldingsOf(part.policy)?.(...listeners)
    return holdings
  }
}

/** Returns whether a decision holds units of a concurrency limit, which must be released. */
export function isHolding(decision: Decision): boolean {
  return receiptOf(decision)?.holding !== undefined
}

/** Releases what a decision holds, once. */
export function releaseDecision(decision: Decision): MaybePromise<void> {
  const receipt = receiptOf(decision)
  const holding = receipt?.holding
  if (receipt === undefined || holding === undefined) return undefined
  receipt.holding = undefined
  return holding.release()
}

/** Stops renewing what a decision holds. It is free after its `ttl`, or when it is released. */
export function stopRenewals(decision: Decision): void {
  receiptOf(decision)?.holding?.stopRenewals()
}
