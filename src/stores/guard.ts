import { StoreError } from '../errors.js'
import { isPromise, type MaybePromise } from '../maybe-promise.js'
import type { Charge, PartVerdict, Store, Verdict } from './store.js'

/** Asks a store for one charge. Throws or rejects with `StoreError` and nothing else. */
export type GuardedCharge = (charge: Charge) => MaybePromise<Verdict>

/**
 * Stands before a store: no answer is waited for longer than `timeoutMs`, what the store throws comes out as
 * `StoreError`, and so does an answer that makes no sense. An answer that comes too late is dropped; what it took stays
 * taken. A synchronous store costs no promise and no timer.
 */
export function guard(store: Store, timeoutMs: number): GuardedCharge {
  return function guardedCharge(charge) {
    try {
      const answer = store.charge([charge])
      if (!isPromise(answer)) return checked(store, charge, answer)
      return inTime(store, answer, timeoutMs).then((late) => checked(store, charge, late))
    } catch (cause) {
      throw asStoreError(store, cause)
    }
  }
}

function inTime(
  store: Store,
  answer: PromiseLike<readonly Verdict[]>,
  timeoutMs: number,
): Promise<readonly Verdict[]> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new StoreError(store.name, `no answer within ${timeoutMs} ms`)),
      timeoutMs,
    )
    answer.then(
      (verdicts) => {
        clearTimeout(timer)
        resolve(verdicts)
      },
      (cause: unknown) => {
        clearTimeout(timer)
        reject(asStoreError(store, cause))
      },
    )
  })
}

function asStoreError(store: Store, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  return new StoreError(store.name, cause instanceof Error ? cause.message : String(cause), { cause })
}

function checked(store: Store, charge: Charge, answer: unknown): Verdict {
  const verdict: unknown = Array.isArray(answer) && answer.length === 1 ? answer[0] : undefined
  if (isVerdict(verdict, charge.length)) return verdict
  throw new StoreError(store.name, 'the answer is no list of one sound verdict', { cause: answer })
}

function isVerdict(value: unknown, partCount: number): value is Verdict {
  if (typeof value !== 'object' || value === null) return false
  const { allowed, atMs, parts } = value as Partial<Verdict>
  if (typeof allowed !== 'boolean' || !Number.isFinite(atMs) || !Array.isArray(parts)) return false
  return (
    parts.length === partCount &&
    parts.every(isPartVerdict) &&
    allowed === parts.every((part) => part.allowed)
  )
}

function isPartVerdict(value: unknown): value is PartVerdict {
  if (typeof value !== 'object' || value === null) return false
  const { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs } = value as Partial<PartVerdict>
  const sound =
    isAtLeast0(remaining) && isAtLeast0(resetAfterMs) && isAtLeast0(retryAfterMs) && isAtLeast0(moreAfterMs)
  return sound && typeof allowed === 'boolean'
}

function isAtLeast0(value: unknown): boolean {
  return typeof value === 'number' && value >= 0
}
