import { EventEmitter } from 'node:events'
import { knownOptions } from './checks.js'
import { CLOSED, type Decision, decisionOf, type NamedPart, OPEN, redeem, UNLIMITED } from './decision.js'
import { StoreError } from './errors.js'
import { isPromise, type MaybePromise, whenKnown } from './maybe-promise.js'
import {
  checkedCost,
  LIMITER_OPTIONS,
  type Limit,
  type LimiterOptions,
  type LimiterSettings,
  RENAMED_OPTIONS,
  readLimiterOptions,
} from './options.js'
import { guard } from './stores/guard.js'
import { memoryStore } from './stores/memory-store.js'
import type { Verdict } from './stores/store.js'
import { warnOnce } from './warn-once.js'

/** What a limiter tells those who listen, and with what. */
export interface LimiterEvents<Subject> {
  /** A charge was denied (in report mode too). */
  limited: [decision: Decision, subject: Subject]
  /** The store could not tell; what happened instead is in the decision's `source`. */
  storeError: [error: StoreError]
  /** Units could not be given back: a `count` function threw, or the store failed. They stay taken. */
  refundFailed: [error: unknown, decision: Decision]
}

/** A rate limiter without HTTP: for WebSockets, queues, GraphQL, and inside the middleware. */
export interface Limiter<Subject> {
  /**
   * Charges a subject with all limits at once, all or nothing. `cost` replaces the limits' own cost. The decision is
   * there at once when the store and the options' functions are synchronous, else it is a promise.
   * Throws or rejects with what an option's function threw, and with `TypeError` for a wrong cost; never for a denial.
   */
  charge(subject: Subject, options?: { cost?: number }): MaybePromise<Decision>
  /** The figures as they stand, without taking anything. */
  peek(subject: Subject): MaybePromise<Decision>
  /** Gives back what a decision took, once; the decision object itself is needed. Rejects with `StoreError`. */
  refund(decision: Decision): MaybePromise<void>
  /** Forgets all that this subject's keys have used. Limits whose key is `undefined` for it are left alone. */
  forget(subject: Subject): MaybePromise<void>
  /** Closes what the store opened itself; never the user's client. */
  close(): Promise<void>
  readonly events: EventEmitter<LimiterEvents<Subject>>
}

/** Makes a limiter. Throws a `TypeError` for wrong options, with the mend in the message. */
export function createLimiter<Subject = unknown>(options: LimiterOptions<Subject>): Limiter<Subject> {
  knownOptions('createLimiter', options, LIMITER_OPTIONS, RENAMED_OPTIONS)
  return limiterFrom('createLimiter', readLimiterOptions('createLimiter', options))
}

/** Makes a limiter from settings that were read; `owner` is who speaks in errors. */
export function limiterFrom<Subject>(owner: string, settings: LimiterSettings): Limiter<Subject> {
  const { limits, store, timeoutMs, chooseOnStoreError } = settings
  const events = new EventEmitter<LimiterEvents<Subject>>()
  const ask = guard(store, timeoutMs)
  const standIn = memoryStore()

  function charge(subject: Subject, { cost }: { cost?: number } = {}): MaybePromise<Decision> {
    const units = cost === undefined ? undefined : checkedCost(owner, cost)
    return whenKnown(readParts(limits, subject, units), (parts) => {
      if (parts.length === 0) return UNLIMITED
      return whenKnown(decide(parts, subject), (decision) => tellLimited(decision, subject))
    })
  }

  function decide(parts: readonly NamedPart[], subject: Subject): MaybePromise<Decision> {
    const answer = askStore(parts)
    if (answer instanceof StoreError) return decideWithout(answer, parts, subject)
    if (!isPromise(answer)) return decisionOf(parts, answer, 'store', store)
    return answer.then(
      (verdict) => decisionOf(parts, verdict, 'store', store),
      (error: StoreError) => decideWithout(error, parts, subject),
    )
  }

  function askStore(parts: readonly NamedPart[]): MaybePromise<Verdict> | StoreError {
    try {
      return ask(parts)
    } catch (error) {
      return error as StoreError // guard lets nothing else through
    }
  }

  function decideWithout(
    error: StoreError,
    parts: readonly NamedPart[],
    subject: Subject,
  ): MaybePromise<Decision> {
    tellStoreError(error)
    return whenKnown(chooseOnStoreError(error, subject), (choice) => {
      if (choice === 'allow') return OPEN
      if (choice === 'deny') return CLOSED
      const [verdict] = standIn.charge([parts])
      return decisionOf(parts, verdict as NonNullable<typeof verdict>, 'local', standIn)
    })
  }

  function tellStoreError(error: StoreError): void {
    if (events.emit('storeError', error)) return
    const mend = "Listen to limiter.events.on('storeError', …) to be told each time."
    warnOnce(
      'HEADGATE_STORE_ERROR',
      `headgate: the store could not decide a request (${error.message}). ${mend}`,
    )
  }

  function tellLimited(decision: Decision, subject: Subject): Decision {
    if (!decision.allowed) events.emit('limited', decision, subject)
    return decision
  }

  function refund(decision: Decision): MaybePromise<void> {
    const owed = redeem(decision)
    return owed?.store.refund(owed.refunds)
  }

  function forget(subject: Subject): MaybePromise<void> {
    return whenKnown(readParts(limits, subject, 0), (parts) => {
      const keys = parts.map(({ key }) => key)
      standIn.forget(keys)
      return store.forget(keys)
    })
  }

  return {
    charge,
    peek: (subject) => charge(subject, { cost: 0 }),
    refund,
    forget,
    close: async () => store.close?.(),
    events,
  }
}

/** The parts of a charge: one for each limit that applies to this subject. */
function readParts(
  limits: readonly Limit[],
  subject: unknown,
  cost: number | undefined,
): MaybePromise<NamedPart[]> {
  const parts = limits.map((limit) => readPart(limit, subject, cost))
  return parts.some(isPromise)
    ? Promise.all(parts).then(applying)
    : applying(parts as (NamedPart | undefined)[])
}

function applying(parts: readonly (NamedPart | undefined)[]): NamedPart[] {
  return parts.filter((part) => part !== undefined)
}

function readPart(
  limit: Limit,
  subject: unknown,
  cost: number | undefined,
): MaybePromise<NamedPart | undefined> {
  return whenKnown(limit.readPolicy(subject), (bound): MaybePromise<NamedPart | undefined> => {
    if (bound === undefined) return undefined
    return whenKnown(limit.readIdentity(subject), (identity): MaybePromise<NamedPart | undefined> => {
      if (identity === undefined) return undefined
      const { policy, keyHead, name } = bound
      return whenKnown(cost ?? limit.readCost(subject), (units) => {
        return { key: `${keyHead}{${identity}}`, policy, cost: units, name }
      })
    })
  })
}
