import type { Operation, Result, TakeResult } from '../stores/operation.js'
import type { Charge, PartVerdict, Store, Verdict } from '../stores/store.js'
import { StoreError } from '../stores/store-error.js'

/** Returns the verdict in a store's answer to one charge. Throws a `StoreError` if it is invalid. */
export function onlyVerdict(store: Store, charge: Charge, answer: unknown): Verdict {
  if (Array.isArray(answer) && answer.length === 1 && isVerdict(answer[0], charge.length)) return answer[0]
  throw new StoreError(store.name, 'the answer is not a list of one valid verdict', { cause: answer })
}

/** Returns a store's verdict on a charge. Throws a `StoreError` if it is invalid. */
export function validateVerdict(store: Store, charge: Charge, verdict: unknown): Verdict {
  if (isVerdict(verdict, charge.length)) return verdict
  throw new StoreError(store.name, 'the answer is not a valid verdict', { cause: verdict })
}

/** Returns the result in a store's answer to one operation. Throws a `StoreError` if it is invalid. */
export function onlyResult(store: Store, operation: Operation, answer: unknown): Result {
  if (Array.isArray(answer) && answer.length === 1 && isResult(answer[0], operation)) return answer[0]
  throw new StoreError(store.name, 'the answer is not a list of one valid result', { cause: answer })
}

/** Returns the time in a store's answer. Throws a `StoreError` if it is invalid. */
export function validateTime(store: Store, answer: unknown): number {
  if (Number.isFinite(answer)) return answer as number
  throw new StoreError(store.name, 'the answer is not a valid time', { cause: answer })
}

function isVerdict(value: unknown, partCount: number): value is Verdict {
  const { allowed, atMs, parts } = (value ?? {}) as Partial<Verdict>
  if (!Number.isFinite(atMs) || !Array.isArray(parts) || parts.length !== partCount) return false
  return parts.every(isPartVerdict) && allowed === parts.every((part) => part.allowed)
}

function isResult(value: unknown, operation: Operation): value is Result {
  const { type, atMs, remaining, moreAfterMs, resetAfterMs, bannedForMs, taken } = (value ?? {}) as TakeResult
  if (type !== operation.type || !Number.isFinite(atMs)) return false
  if (operation.type === 'take' && !(Number.isSafeInteger(taken) && taken >= 0 && taken <= operation.units))
    return false
  return (
    [moreAfterMs, resetAfterMs, bannedForMs].every(isTime) &&
    Number.isSafeInteger(remaining) &&
    remaining >= 0
  )
}

function isPartVerdict(value: unknown): value is PartVerdict {
  const { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs, atMs } = (value ?? {}) as PartVerdict
  if (atMs !== undefined && !Number.isFinite(atMs)) return false
  const hasValidTimes = [resetAfterMs, retryAfterMs, moreAfterMs].every(isTime)
  return hasValidTimes && Number.isSafeInteger(remaining) && remaining >= 0 && typeof allowed === 'boolean'
}

function isTime(value: unknown): boolean {
  if (value === Number.POSITIVE_INFINITY) return true
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}
