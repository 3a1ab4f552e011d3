import { show } from '../checks.js'
import { StoreError } from '../errors.js'
import { isPromise, type MaybePromise } from '../maybe-promise.js'
import { type BreakerState, breaker, type OnBreakerChange } from './breaker.js'
import { deadline } from './deadline.js'
import type { Charge, Held, PartVerdict, Refund, Store, Verdict } from './store.js'

/** A store that is asked one charge at a time, and throws or rejects with `StoreError` and nothing else. */
export interface GuardedStore {
  readonly name: string
  /** Whether it is asked at present. */
  readonly state: BreakerState
  /** What is asked of it since `sinceMs` (of `performance.now()`, default now) has so much less time. */
  charge(charge: Charge, sinceMs?: number): MaybePromise<Verdict>
  refund(refunds: readonly Refund[]): MaybePromise<void>
  forget(held: readonly Held[]): MaybePromise<void>
  /** Resolves when all that was asked has ended, by `timeoutMs` at the latest. */
  settled(): Promise<void>
}

/** The store has not answered in time. It may answer later. */
export class Overdue extends StoreError {
  readonly answer: Promise<unknown>

  constructor(store: string, message: string, answer: Promise<unknown>) {
    super(store, message)
    this.answer = answer
    answer.catch(() => {}) // perhaps nobody listens any more
  }
}

/** What has used up its time before the store is asked waits for this share of it all the same: slow key functions limit, too. */
const LEAST_SHARE = 0.25

/** How a store is guarded. */
export interface GuardOptions {
  /** The longest that an answer is waited for, from when it was asked for. */
  readonly timeoutMs: number
  readonly onChange?: OnBreakerChange
}

/**
 * Stands before a store: no answer is waited for longer than `timeoutMs`, what the store throws comes out as
 * `StoreError`, and so does an answer that makes no sense. A store that fails again and again is not asked for a while: a
 * `StoreError` whose cause is a `StoreError` comes at once. What comes too late is told by `Overdue.answer`. A synchronous store costs
 * no promise and no timer.
 */
export function guard(store: Store, { timeoutMs, onChange = () => {} }: GuardOptions): GuardedStore {
  const inTime = deadline(timeoutMs)
  const fuse = breaker(onChange)
  const underWay = new Set<Promise<unknown>>()

  function asked<T, R>(
    question: () => MaybePromise<T>,
    read: (answer: T) => R,
    sinceMs?: number,
  ): MaybePromise<R> {
    if (!fuse.admits()) throw notAsked(store, fuse.cause)
    let late: Promise<T> | undefined
    let here: T | undefined
    try {
      const answer = question()
      if (isPromise(answer)) late = Promise.resolve(answer)
      else here = answer
    } catch (cause) {
      throw failure(cause)
    }
    return late ? waited(late, read, sinceMs) : understood(here as T, read)
  }

  async function waited<T, R>(answer: Promise<T>, read: (answer: T) => R, sinceMs?: number): Promise<R> {
    let isOverdue = false
    const onLate = () => {
      isOverdue = true
    }
    const ended = sinceMs === undefined ? inTime(answer, onLate) : deadline(msLeft(sinceMs))(answer, onLate)
    underWay.add(ended)
    let value: T
    try {
      value = await ended
    } catch (cause) {
      throw failure(isOverdue ? new Overdue(store.name, textOf(cause), answer.then(read)) : cause)
    } finally {
      underWay.delete(ended)
    }
    return understood(value, read)
  }

  function msLeft(sinceMs: number): number {
    return Math.max(timeoutMs * LEAST_SHARE, timeoutMs - Math.round(performance.now() - sinceMs))
  }

  function understood<T, R>(answer: T, read: (answer: T) => R): R {
    let result: R
    try {
      result = read(answer)
    } catch (cause) {
      throw failure(cause)
    }
    fuse.succeeded()
    return result
  }

  function failure(cause: unknown): StoreError {
    const error = asStoreError(store, cause)
    if (error.answered) fuse.succeeded()
    else fuse.failed(error)
    return error
  }

  return {
    name: store.name,
    get state() {
      return fuse.state
    },
    charge: (wanted, sinceMs) =>
      asked(
        () => store.charge([wanted]),
        (answer) => checked(store, wanted, answer),
        sinceMs,
      ),
    refund: (refunds) => asked(() => store.refund(refunds), nothing),
    forget: (held) => asked(() => store.forget(held), nothing),
    settled: async () => {
      await Promise.allSettled(underWay)
    },
  }
}

function nothing(): void {}

function notAsked(store: Store, cause: StoreError | undefined): StoreError {
  return new StoreError(
    store.name,
    `not asked for a moment, since it failed again and again (${cause?.message})`,
    { cause },
  )
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
