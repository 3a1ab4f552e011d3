import type { Charge, KeyedPolicy, Refund, Store, Verdict } from '../stores/store.js'
import { asStoreError, messageOf, StoreError } from '../stores/store-error.js'
import { isPromise, type MaybePromise } from '../util/maybe-promise.js'
import { timeout } from '../util/timeout.js'
import { type BreakerState, breaker, type OnBreakerChange, type Turn } from './circuit-breaker.js'
import { validateVerdict } from './validate-verdict.js'

/** A store that is asked one charge at a time, and throws or rejects with `StoreError` and nothing else. */
export interface GuardedStore {
  readonly name: string
  /** Whether it is asked at present. */
  state(): BreakerState
  /** What is asked of it since `sinceMs` (of `performance.now()`, default now) has so much less time. */
  charge(charge: Charge, sinceMs?: number): MaybePromise<Verdict>
  refund(refunds: readonly Refund[]): MaybePromise<void>
  forget(held: readonly KeyedPolicy[]): MaybePromise<void>
  /** Resolves when all that was asked has ended, by `timeoutMs` at the latest. */
  settled(): Promise<void>
}

/** The store has not answered in time. It may answer later. */
export class StoreTimeoutError extends StoreError {
  readonly answer: Promise<unknown>

  constructor(store: string, message: string, answer: Promise<unknown>) {
    super(store, message)
    this.answer = answer
    answer.catch(() => {}) // perhaps nobody listens any more
  }
}

/** The store was not asked, since it failed again and again. */
export class CircuitOpenError extends StoreError {
  constructor(store: string, cause: StoreError | undefined) {
    super(store, `not asked for a moment, since it failed again and again (${cause?.message})`, { cause })
  }
}

/**
 * What has used up its time before it comes here is given this share of it all the same: slow key functions
 * limit, too. Waiting for a probe extends nothing: whatever is left then is all that the store gets.
 */
const LEAST_SHARE = 0.25

/** How a store is guarded. */
export interface GuardOptions {
  /** The longest that an answer is waited for, from when it was asked for. */
  readonly timeoutMs: number
  readonly onChange?: OnBreakerChange
}

/**
 * Stands before a store: no answer is waited for longer than `timeoutMs`, what the store throws comes out as
 * `StoreError`, and so does an answer that makes no sense. What comes too late is told by `StoreTimeoutError.answer`.
 * A synchronous store costs no promise and no timer.
 *
 * A store that fails again and again is not asked for a while: `CircuitOpenError` comes at once. Then one request
 * probes it, and those that come meanwhile wait for the outcome, each until its own deadline at the latest:
 * charges and peeks, so that the store decides the first burst after an outage; refunds and forgets as well,
 * since what fails then is not tried again.
 */
export function guard(store: Store, { timeoutMs, onChange = () => {} }: GuardOptions): GuardedStore {
  const inTime = timeout(timeoutMs)
  const fuse = breaker(onChange)
  const underWay = new Set<Promise<unknown>>()

  const charging: Question<Charge, readonly Verdict[], Verdict> = {
    ask: (charge) => store.charge([charge]),
    read: (answer, charge) => validateVerdict(store, charge, answer),
  }
  const refunding: Question<readonly Refund[], void, void> = {
    ask: (refunds) => store.refund(refunds),
    read: nothing,
  }
  const forgetting: Question<readonly KeyedPolicy[], void, void> = {
    ask: (held) => store.forget(held),
    read: nothing,
  }

  function asked<Wanted, T, R>(
    question: Question<Wanted, T, R>,
    wanted: Wanted,
    sinceMs?: number,
    turn = fuse.admit(),
  ): MaybePromise<R> {
    const givenMs = sinceMs === undefined ? timeoutMs : msLeft(sinceMs)
    if (turn !== undefined) return send(question, wanted, turn, givenMs)
    if (fuse.state !== 'half-open') throw new CircuitOpenError(store.name, fuse.cause)
    const ended = sendAfterProbe(question, wanted, givenMs)
    const forgetIt = () => underWay.delete(ended)
    underWay.add(ended)
    ended.then(forgetIt, forgetIt)
    return ended
  }

  /** Sends a request once the probe has succeeded; the wait is taken off its time for the store. */
  async function sendAfterProbe<Wanted, T, R>(
    question: Question<Wanted, T, R>,
    wanted: Wanted,
    givenMs: number,
  ): Promise<R> {
    const fromMs = performance.now()
    const { cause } = fuse
    try {
      await within(givenMs)(fuse.probed())
    } catch {
      throw new CircuitOpenError(store.name, cause) // the probe has no outcome yet
    }
    const leftMs = givenMs - Math.round(performance.now() - fromMs)
    if (fuse.state !== 'closed' || leftMs < 1) throw new CircuitOpenError(store.name, fuse.cause ?? cause)
    return send(question, wanted, fuse.admit() as Turn, leftMs)
  }

  function send<Wanted, T, R>(
    { ask, read }: Question<Wanted, T, R>,
    wanted: Wanted,
    turn: Turn,
    givenMs: number,
  ): MaybePromise<R> {
    let late: Promise<T> | undefined
    let here: T | undefined
    try {
      const answer = ask(wanted)
      if (isPromise(answer)) late = Promise.resolve(answer)
      else here = answer
    } catch (cause) {
      throw failure(turn, cause)
    }
    if (late === undefined) return understood(turn, here as T, wanted, read)
    return waited(turn, late, wanted, read, givenMs)
  }

  async function waited<Wanted, T, R>(
    turn: Turn,
    answer: Promise<T>,
    wanted: Wanted,
    read: (answer: T, wanted: Wanted) => R,
    givenMs: number,
  ): Promise<R> {
    let isOverdue = false
    const ended = within(givenMs)(answer, () => {
      isOverdue = true
    })
    underWay.add(ended)
    let value: T
    try {
      value = await ended
    } catch (cause) {
      if (!isOverdue) throw failure(turn, cause)
      const overdue = new StoreTimeoutError(
        store.name,
        messageOf(cause),
        answer.then((late) => read(late, wanted)),
      )
      if (givenMs === timeoutMs) throw failure(turn, overdue)
      judgeLater(turn, overdue, timeoutMs - givenMs)
      throw overdue
    } finally {
      underWay.delete(ended)
    }
    return understood(turn, value, wanted, read)
  }

  /** Others used up some of the store's time. It is judged by what it does with all of that. */
  function judgeLater(turn: Turn, overdue: StoreTimeoutError, restMs: number): void {
    let isOverdue = false
    const answered = within(restMs)(overdue.answer, () => {
      isOverdue = true
    })
    answered.then(
      () => fuse.succeeded(turn),
      (cause) => failure(turn, isOverdue ? overdue : cause),
    )
  }

  /** The usual deadline is one for all. */
  function within(ms: number): ReturnType<typeof timeout> {
    return ms === timeoutMs ? inTime : timeout(ms)
  }

  function msLeft(sinceMs: number): number {
    return Math.max(Math.ceil(timeoutMs * LEAST_SHARE), timeoutMs - Math.round(performance.now() - sinceMs))
  }

  function understood<Wanted, T, R>(
    turn: Turn,
    answer: T,
    wanted: Wanted,
    read: (answer: T, wanted: Wanted) => R,
  ): R {
    let result: R
    try {
      result = read(answer, wanted)
    } catch (cause) {
      throw failure(turn, cause)
    }
    fuse.succeeded(turn)
    return result
  }

  function failure(turn: Turn, cause: unknown): StoreError {
    const error = asStoreError(store.name, cause)
    if (error.answered) fuse.succeeded(turn)
    else fuse.failed(turn, error, error instanceof StoreTimeoutError)
    return error
  }

  return {
    name: store.name,
    state: () => fuse.state,
    charge: (wanted, sinceMs) => asked(charging, wanted, sinceMs),
    refund: (refunds) => asked(refunding, refunds),
    forget: (held) => asked(forgetting, held),
    settled: async () => {
      await Promise.allSettled(underWay)
    },
  }
}

/** What a store is asked, and how its answer is read. */
interface Question<Wanted, Answer, Result> {
  readonly ask: (wanted: Wanted) => MaybePromise<Answer>
  readonly read: (answer: Answer, wanted: Wanted) => Result
}

function nothing(): void {}
