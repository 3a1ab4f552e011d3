import { EventEmitter } from 'node:events'
import { isDisconnectedError, rememberPeerAddress } from '../keys/connection.js'
import { fallbackStoreOf } from '../resilience/fallback-store.js'
import { CircuitOpenError } from '../resilience/guarded-store.js'
import { protectStore } from '../resilience/protect-store.js'
import type { Verdict } from '../stores/store.js'
import { StoreError } from '../stores/store-error.js'
import { isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import {
  CLOSED,
  chargeOf,
  type Decision,
  decisionOf,
  type NamedPart,
  redeem,
  refundsByName,
  UNLIMITED,
} from './decision.js'
import {
  emitLimited,
  emitLimitsLost,
  emitRefundFailed,
  emitStoreError,
  emitStoreState,
  type LimiterEvents,
} from './events.js'
import { type Health, healthOf } from './health.js'
import type { LimiterOptions } from './options.js'
import { checkedCost } from './parse-limits.js'
import { type LimiterSettings, readLimiterOptions } from './parse-options.js'
import { readForgotten, readParts } from './resolve-charge.js'
import { decideWithoutStore } from './store-failure.js'

/** A rate limiter without HTTP: for WebSockets, queues, GraphQL, and inside the middleware. */
export interface Limiter<Subject> {
  /**
   * Charges a subject with all limits at once, all or nothing. `cost` replaces the limits' own cost. The decision is
   * there at once when the store and the options' functions are synchronous, else it is a promise.
   * Throws or rejects with what an option's function threw, and with `TypeError` for a wrong cost; never for a denial.
   *
   * A request whose connection is gone before its address could be read, where a limit needs that, is
   * refused without a charge: `allowed: false`, with `source: 'closed'`. Nobody would read the answer.
   */
  charge(subject: Subject, options?: { cost?: number }): MaybePromise<Decision>
  /** The figures as they stand, without taking anything. */
  peek(subject: Subject): MaybePromise<Decision>
  /**
   * Gives back what a decision took, once; the decision object itself is needed, not a copy. With `limits`, the names of limits, only
   * what these took, and the rest stays taken. Throws or rejects with `StoreError` when the store failed; whether the units went back is
   * unknown then, and they are not given back again.
   */
  refund(decision: Decision, options?: { limits?: readonly string[] }): MaybePromise<void>
  /**
   * Forgets all that this subject's keys have used. Limits whose key is `undefined` for it are left alone.
   * Any object will do that has what the key functions read, such as `{ body: { username: 'ada' } }` for
   * `byField('username')`; or a decision, for the keys that were charged. With `limits`, the names of
   * limits, only these forget, and only their keys are read. Throws or rejects where a key needs the address
   * of a request whose connection is closed: give the decision then.
   */
  forget(
    subject: Subject | Record<string, unknown> | Decision,
    options?: { limits?: readonly string[] },
  ): MaybePromise<void>
  /** Asks the store without taking anything, for readiness probes. Never rejects. */
  health(): Promise<Health>
  /** Waits for what is under way, by `timeoutMs` at the latest, and closes what the store opened itself; never the user's client. */
  close(): Promise<void>
  readonly events: EventEmitter<LimiterEvents<Subject>>
}

/** Makes a limiter. Throws a `TypeError` for wrong options, with the mend in the message. */
export function createLimiter<Subject = unknown>(options: LimiterOptions<Subject>): Limiter<Subject> {
  return limiterFrom('createLimiter', readLimiterOptions('createLimiter', options))
}

/** Makes a limiter from settings that were read; `owner` is who speaks in errors. */
export function limiterFrom<Subject>(owner: string, settings: LimiterSettings): Limiter<Subject> {
  const { limits, timeoutMs, share, denyCacheMs, lease, healthKey, chooseOnStoreError } = settings
  const events = new EventEmitter<LimiterEvents<Subject>>()
  const { store, close } = protectStore(settings.store, {
    timeoutMs,
    denyCacheMs,
    lease: lease && { ...lease, onReturnFailed: onNotGivenBack },
    onChange: (state, cause) => emitStoreState(events, state, cause),
  })
  const fallback = fallbackStoreOf(settings.store)
  const unsubscribe = settings.store.onLimitsLost?.((error) => emitLimitsLost(events, error))

  function onNotGivenBack(error: unknown): void {
    emitRefundFailed(events, error, CLOSED)
  }

  function charge(subject: Subject, options?: { cost?: number }): MaybePromise<Decision> {
    const cost = options?.cost === undefined ? undefined : checkedCost(owner, options.cost)
    const decision = decideFor(subject, cost)
    if (isPromise(decision)) return decision.then((made) => told(made, subject))
    return told(decision, subject)
  }

  function told(decision: Decision, subject: Subject): Decision {
    if (!decision.allowed) emitLimited(events, decision, subject)
    return decision
  }

  function decideFor(subject: Subject, cost: number | undefined): MaybePromise<Decision> {
    let parts: MaybePromise<NamedPart[]>
    try {
      parts = readParts(limits, subject, cost)
    } catch (error) {
      return denyDisconnected(error)
    }
    if (!isPromise(parts)) return decide(parts, subject)
    rememberPeerAddress(subject)
    const arrivedMs = performance.now()
    return parts.then((read) => decide(read, subject, arrivedMs), denyDisconnected)
  }

  function decide(parts: readonly NamedPart[], subject: Subject, arrivedMs?: number): MaybePromise<Decision> {
    if (parts.length === 0) return UNLIMITED
    const answer = ask(parts, arrivedMs)
    if (answer instanceof StoreError) return decideWithout(answer, parts, subject)
    if (!isPromise(answer)) return decided(parts, answer)
    return answer.then(
      (verdict) => decided(parts, verdict),
      (error: StoreError) => decideWithout(error, parts, subject),
    )
  }

  function decided(parts: readonly NamedPart[], verdict: Verdict): Decision {
    return decisionOf(parts, verdict, verdict.source ?? 'store', giveBack)
  }

  function giveBack(names: readonly string[] | undefined, parts: readonly NamedPart[], verdict: Verdict) {
    const refunds = refundsByName(parts, verdict, names)
    return refunds.length === 0 ? undefined : store.refund(refunds)
  }

  function ask(parts: readonly NamedPart[], arrivedMs?: number): MaybePromise<Verdict> | StoreError {
    try {
      return store.charge(parts, arrivedMs)
    } catch (error) {
      return error as StoreError // guard lets nothing else through
    }
  }

  function decideWithout(
    error: StoreError,
    parts: readonly NamedPart[],
    subject: Subject,
  ): MaybePromise<Decision> {
    if (!(error instanceof CircuitOpenError)) emitStoreError(events, error) // why it is not asked was told before
    return thenMaybe(chooseOnStoreError(error, subject), (choice) =>
      decideWithoutStore({ fallback, share }, choice, parts),
    )
  }

  function forget(
    subject: Subject | Record<string, unknown> | Decision,
    options: { limits?: readonly string[] } = {},
  ): MaybePromise<void> {
    const { limits: names } = options
    return thenMaybe(chargeOf(subject) ?? readForgotten(limits, subject, names), (all) => {
      const parts = names === undefined ? all : all.filter(({ name }) => names.includes(name))
      if (parts.length === 0) return
      fallback.forget(parts)
      return store.forget(parts)
    })
  }

  return {
    charge,
    peek: (subject) => decideFor(subject, 0),
    refund: (decision, options) => redeem(decision, options?.limits),
    forget,
    health: () => healthOf(store, healthKey),
    close: async () => {
      unsubscribe?.()
      await ended(store.settled(), timeoutMs)
      await ended(Promise.resolve(close()), timeoutMs)
    },
    events,
  }
}

/** Returns the denial of a request whose address was needed and whose connection is gone. Throws any other error on. */
export function denyDisconnected(error: unknown): Decision {
  if (isDisconnectedError(error)) return CLOSED
  throw error
}

/** Waits for an end, `timeoutMs` at the most. */
async function ended(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
