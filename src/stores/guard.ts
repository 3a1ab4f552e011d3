import { show } from '../checks.js'
import { StoreError } from '../errors.js'
import { isPromise, type MaybePromise } from '../maybe-promise.js'
import type { Charge, Held, PartVerdict, Refund, Store, Verdict } from './store.js'

/** A store that is asked one charge at a time, and throws or rejects with `StoreError` and nothing else. */
export interface GuardedStore {
  charge(charge: Charge): MaybePromise<Verdict>
  refund(refunds: readonly Refund[]): MaybePromise<void>
  forget(held: readonly Held[]): MaybePromise<void>
}

/**
 * Stands before a store: no answer is waited for longer than `timeoutMs`, what the store throws comes out as
 * `StoreError`, and so does an answer that makes no sense. An answer that comes too late is dropped; what it took stays
 * taken. A synchronous store costs no promise and no timer.
 */
export function guard(store: Store, timeoutMs: number): GuardedStore {
  function charge(wanted: Charge): MaybePromise<Verdict> {
    const answer = asked(store, timeoutMs, () => store.charge([wanted]))
    if (isPromise(answer)) return answer.then((verdicts) => checked(store, wanted, verdicts))
    return checked(store, wanted, answer)
  }

  return {
    charge,
    refund: (refunds) => asked(store, timeoutMs, () => store.refund(refunds)),
    forget: (held) => asked(store, timeoutMs, () => store.forget(held)),
  }
}

/** Asks, with the deadline where the answer has to be waited for. */
function asked<T>(store: Store, timeoutMs: number, question: () => MaybePromise<T>): MaybePromise<T> {
  try {
    const answer = question()
    return isPromise(answer) ? inTime(store, answer, timeoutMs) : answer
  } catch (cause) {
    throw asStoreError(store, cause)
  }
}

function inTime<T>(store: Store, answer: PromiseLike<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const tooLate = () => reject(new StoreError(store.name, `no answer within ${timeoutMs} ms`))
    const timer = setTimeout(tooLate, timeoutMs)
    Promise.resolve(answer)
      .then(resolve, (cause: unknown) => reject(asStoreError(store, cause)))
      .finally(() => clearTimeout(timer))
  })
}

function asStoreError(store: Store, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  return new StoreError(store.name, textOf(cause), { cause })
}

function textOf(cause: unknown): string {
  if (cause instanceof Error) return cause.message
  return typeof cause === 'string' ? cause : `it threw ${show(cause)}`
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
  const { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs } = value as PartVerdict
  const soundTimes = isTime(resetAfterMs) && isTime(retryAfterMs) && isTime(moreAfterMs)
  return soundTimes && Number.isSafeInteger(remaining) && remaining >= 0 && typeof allowed === 'boolean'
}

function isTime(value: unknown): boolean {
  if (typeof value !== 'number') return false
  return (value >= 0 && value <= Number.MAX_SAFE_INTEGER) || value === Number.POSITIVE_INFINITY
}
