import type { Charge, PartVerdict, Store, Verdict } from '../stores/store.js'
import { StoreError } from '../stores/store-error.js'

/** Returns the verdict in a store's answer to one charge. Throws a `StoreError` if it is invalid. */
export function validateVerdict(store: Store, charge: Charge, answer: unknown): Verdict {
  const verdict: unknown = Array.isArray(answer) && answer.length === 1 ? answer[0] : undefined
  if (isVerdict(verdict, charge.length)) return verdict
  throw new StoreError(store.name, 'the answer is not a list of one valid verdict', { cause: answer })
}

function isVerdict(value: unknown, partCount: number): value is Verdict {
  if (typeof value !== 'object' || value === null) return false
  const { allowed, atMs, parts } = value as Partial<Verdict>
  if (typeof allowed !== 'boolean' || !Number.isFinite(atMs) || !Array.isArray(parts)) return false
  if (parts.length !== partCount) return false
  let everyPart = true
  for (const part of parts) {
    if (!isPartVerdict(part)) return false
    everyPart &&= part.allowed
  }
  return allowed === everyPart
}

function isPartVerdict(value: unknown): value is PartVerdict {
  if (typeof value !== 'object' || value === null) return false
  const { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs, atMs } = value as PartVerdict
  if (atMs !== undefined && !Number.isFinite(atMs)) return false
  const hasValidTimes = isTime(resetAfterMs) && isTime(retryAfterMs) && isTime(moreAfterMs)
  return hasValidTimes && Number.isSafeInteger(remaining) && remaining >= 0 && typeof allowed === 'boolean'
}

function isTime(value: unknown): boolean {
  if (typeof value !== 'number') return false
  return (value >= 0 && value <= Number.MAX_SAFE_INTEGER) || value === Number.POSITIVE_INFINITY
}
