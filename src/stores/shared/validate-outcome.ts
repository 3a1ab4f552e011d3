import type { ChargeResult, Operation, Outcome, PartResult, RenewResult, TakeResult } from '../operation.js'
import type { Store } from '../store.js'
import { StoreError } from '../store-error.js'

/** Returns the outcome of one operation, from what `apply` returned: a `StoreError` if that is invalid. */
export function onlyOutcome(store: Store, operation: Operation, outcomes: unknown): Outcome {
  if (Array.isArray(outcomes) && outcomes.length === 1) return validateOutcome(store, operation, outcomes[0])
  return wrongCountError(store, 1, outcomes)
}

/**
 * Returns a store's outcomes of a batch. Throws a `StoreError` if there are more or fewer of them than
 * operations: then none of them can be trusted, since each may belong to another operation.
 */
export function checkCount(store: Store, count: number, outcomes: unknown): readonly Outcome[] {
  if (Array.isArray(outcomes) && outcomes.length === count) return outcomes
  throw wrongCountError(store, count, outcomes)
}

function wrongCountError(store: Store, count: number, outcomes: unknown): StoreError {
  const list = count === 1 ? 'one outcome' : `${count} outcomes`
  return new StoreError(store.name, `apply did not return a list of ${list}`, { cause: outcomes })
}

/** Returns a store's outcome of an operation: a `StoreError` if it is invalid. */
export function validateOutcome(store: Store, operation: Operation, outcome: unknown): Outcome {
  if (isResult(outcome, operation) || outcome instanceof StoreError) return outcome
  return new InvalidResultError(store.name, operation, outcome)
}

/** The error in place of a result that makes no sense, which is its cause. */
export class InvalidResultError extends StoreError {
  constructor(store: string, operation: Operation, cause: unknown) {
    super(store, `apply did not return a valid result of a ${operation.type}`, { cause })
  }
}

function isResult(value: unknown, operation: Operation): value is Outcome {
  if ((value as { readonly type?: unknown } | null | undefined)?.type !== operation.type) return false
  switch (operation.type) {
    case 'charge':
      return isChargeResult(value as ChargeResult, operation.parts.length)
    case 'renew':
      return Number.isFinite((value as RenewResult).resetAtMs)
    case 'take':
      return hasTaken(value as TakeResult, operation.units) && isStanding(value as TakeResult)
    case 'reward':
    case 'block':
      return isStanding(value as TakeResult)
    default:
      return true
  }
}

function isChargeResult({ allowed, atMs, parts }: ChargeResult, partCount: number): boolean {
  if (!Number.isFinite(atMs) || !Array.isArray(parts) || parts.length !== partCount) return false
  let isAllowed = true
  for (const part of parts as readonly (PartResult | null | undefined)[]) {
    if (typeof part?.allowed !== 'boolean' || !Number.isFinite(part.atMs ?? atMs)) return false
    if (!areFigures(part.remaining, part.resetAfterMs, part.retryAfterMs, part.moreAfterMs)) return false
    isAllowed &&= part.allowed
  }
  return allowed === isAllowed
}

function hasTaken({ taken }: TakeResult, units: number): boolean {
  return areFigures(taken) && taken <= units
}

function isStanding({ atMs, remaining, moreAfterMs, resetAfterMs, bannedForMs }: TakeResult): boolean {
  return Number.isFinite(atMs) && areFigures(remaining, moreAfterMs, resetAfterMs, bannedForMs)
}

/**
 * Returns whether units are a whole number, and times are milliseconds that a policy may return, or
 * `Infinity`.
 */
function areFigures(units: unknown, ...timesMs: readonly unknown[]): boolean {
  if (!Number.isSafeInteger(units) || (units as number) < 0) return false
  for (const ms of timesMs) {
    if (typeof ms !== 'number' || !(ms >= 0)) return false
    if (ms > Number.MAX_SAFE_INTEGER && ms !== Number.POSITIVE_INFINITY) return false
  }
  return true
}
