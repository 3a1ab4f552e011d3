import type {
  Charge,
  ChargeResult,
  Operation,
  Outcome,
  PartResult,
  RenewResult,
  Result,
  Standing,
  TakeResult,
} from '../stores/operation.js'
import type { KeyOperation } from '../stores/shared/apply-batch.js'
import type { Unchecked } from '../stores/shared/validate.js'
import type { Store } from '../stores/store.js'
import { StoreError } from '../stores/store-error.js'
import { thenMaybe } from '../util/maybe-promise.js'

/**
 * Returns the `apply` of a store that a user wrote, with a check of each outcome: an invalid one becomes a
 * `StoreError`.
 */
export function validatedApply(store: Store): Store['apply'] {
  return (operations, settle) => {
    const validate = (outcome: Outcome, index: number) => {
      const operation = operations[index]
      return operation === undefined ? outcome : validateOutcome(store, operation, outcome)
    }
    const outcomes = settle
      ? store.apply(operations, (index, outcome) => settle(index, validate(outcome, index)))
      : store.apply(operations)
    return thenMaybe(outcomes, (list) => checkCount(store, operations.length, list).map(validate))
  }
}

/**
 * Returns a store's outcomes of a batch. Throws a `StoreError` if there are more or fewer of them than
 * operations: then none of them can be trusted, since each may belong to another operation.
 */
function checkCount(store: Store, count: number, outcomes: unknown): readonly Outcome[] {
  if (Array.isArray(outcomes) && outcomes.length === count) return outcomes
  const list = count === 1 ? 'one outcome' : `${count} outcomes`
  throw new StoreError(store.name, `apply did not return an array of ${list}`, { cause: outcomes })
}

/** Returns a store's outcome of an operation: a `StoreError` if it is invalid. */
export function validateOutcome(store: Store, operation: Operation, outcome: unknown): Outcome {
  if (operation.type === 'charge') {
    if (isChargeResult(outcome, operation)) return outcome
  } else if (isKeyResult(outcome, operation)) return outcome
  if (outcome instanceof StoreError) return outcome
  return new InvalidResultError(store.name, operation, outcome)
}

/** The error for an invalid result, with that result as its cause. */
export class InvalidResultError extends StoreError {
  constructor(store: string, operation: Operation, cause: unknown) {
    super(store, `apply did not return a valid result for a ${operation.type}`, { cause })
  }
}

function isChargeResult(outcome: unknown, charge: Charge): outcome is ChargeResult {
  const { type, allowed, atMs, parts }: Unchecked<ChargeResult> = outcome ?? {}
  if (type !== 'charge' || !Number.isFinite(atMs) || !Array.isArray(parts)) return false
  const figures: readonly (Unchecked<PartResult> | null | undefined)[] = parts
  if (figures.length !== charge.parts.length) return false
  let isAllowed = true
  for (const part of figures) {
    if (typeof part?.allowed !== 'boolean' || !Number.isFinite(part.atMs ?? atMs)) return false
    if (!areFigures(part.remaining, part.resetAfterMs, part.retryAfterMs, part.moreAfterMs)) return false
    isAllowed &&= part.allowed
  }
  return allowed === isAllowed
}

function isKeyResult(outcome: unknown, operation: KeyOperation): outcome is Exclude<Result, ChargeResult> {
  const fields: Unchecked<TakeResult> & Unchecked<RenewResult> = outcome ?? {}
  if (fields.type !== operation.type) return false
  switch (operation.type) {
    case 'renew':
      return Number.isFinite(fields.resetAtMs)
    case 'take':
      return areFigures(fields.taken) && fields.taken <= operation.units && isStanding(fields)
    case 'reward':
    case 'block':
      return isStanding(fields)
    default:
      return true
  }
}

function isStanding(fields: Unchecked<Standing>): boolean {
  const { atMs, remaining, moreAfterMs, resetAfterMs, bannedForMs } = fields
  return Number.isFinite(atMs) && areFigures(remaining, moreAfterMs, resetAfterMs, bannedForMs)
}

/**
 * Returns whether units are a whole number, and times are milliseconds that a policy may return, or
 * `Infinity`.
 */
function areFigures(units: unknown, ...timesMs: readonly unknown[]): units is number {
  if (typeof units !== 'number' || !Number.isSafeInteger(units) || units < 0) return false
  for (const ms of timesMs) {
    if (typeof ms !== 'number' || !(ms >= 0)) return false
    if (ms > Number.MAX_SAFE_INTEGER && ms !== Number.POSITIVE_INFINITY) return false
  }
  return true
}
