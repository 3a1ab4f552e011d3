import { EventEmitter } from 'node:events'
import { peerAddress } from '../keys/connection.js'
import { fallbackStoreOf, scalerOf } from '../resilience/fallback-store.js'
import { CircuitOpenError } from '../resilience/guarded-store.js'
import { protectStore } from '../resilience/protect-store.js'
import type { KeyedPolicy, StateChange, Verdict } from '../stores/store.js'
import type { StoreError } from '../stores/store-error.js'
import { isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { type ByHand, changesByHand } from './by-hand.js'
import {
  ChargeDecision,
  type ChargeSource,
  CLOSED,
  chargeOf,
  type Decision,
  decisionOf,
  denyDisconnected,
  type NamedPart,
  OPEN,
  type Report,
  refundDecision,
  UNLIMITED,
} from './decision.js'
import { directDecider } from './direct-decision.js'
import { emit, emitFailure, type LimiterEvents } from './events.js'
import { type Health, healthOf } from './health.js'
import { holdingsOf, type Keeper, releaseDecision } from './holdings.js'
import type { LimiterOptions } from './options.js'
import { checkedCost, namesOf } from './parse-limits.js'
import { type LimiterSettings, readLimiterOptions } from './parse-options.js'
import { politeCharge } from './polite-charge.js'
import { chargeResolver } from './resolve-charge.js'
import { createWaiting } from './wait-for.js'
import type { WaitOptions } from './wait-options.js'

/** A rate limiter without HTTP: for WebSockets, queues, GraphQL, and inside the middleware. */
export interface Limiter<Subject> extends ByHand<Subject> {
  /**
   * Charges a subject with all limits at once, all or nothing. `cost` replaces the limits' own cost. Returns
   * the decision itself when the store and the functions among the options are synchronous, else a promise
   * of it. Throws or rejects with what such a function threw, and with `TypeError` for a wrong cost; never
   * for a denial.
   *
   * If a limit needs the address of a request whose connection is already gone, the request is denied
   * without a charge, with `source: 'closed'`. Nobody would read the response.
   */
  charge(subject: Subject, options?: { cost?: number }): MaybePromise<Decision>
  /**
   * Charges a subject as `charge` does, once that is allowed. Resolves with the allowed decision; or with a
   * denied one as soon as the charge can no longer be allowed within `maxWaitMs`, when 10,000 others wait, or
   * when the limiter is closed. Rejects with the reason of `signal` when that aborts: what a charge took in
   * the meantime is refunded first.
   *
   * Those who wait for the same key are served in the order in which they came. That holds within this
   * process: other processes, and `charge`, may take units first. While a limit is exhausted, only the first
   * of them calls the store. A refund and `forget` of this limiter let it try again at once. Waiting counts
   * for no ban. Where the store fails, the decision is that of `onStoreError`. In report mode nobody waits.
   */
  waitFor(subject: Subject, options?: WaitOptions): Promise<Decision>
  /** Returns the figures as they stand, without taking anything. */
  peek(subject: Subject): MaybePromise<Decision>
  /**
   * Refunds what a decision took, once; a copy of the decision has no effect. With `limits`, only what the
   * limits of these names took: the rest stays taken. Throws or rejects with `StoreError` when the store
   * failed; the units may be back then, and cannot be refunded again. What a concurrency limit holds stays
   * held: `release` it.
   */
  refund(decision: Decision, options?: { limits?: readonly string[] }): MaybePromise<void>
  /**
   * Releases what a decision holds of concurrency limits, once. Call it when the work is done, whatever the
   * outcome: until then headgate renews the units. Middleware calls it when the response closes. Throws or
   * rejects with `StoreError` when the store failed; the units are then free after their `ttl`.
   */
  release(decision: Decision): MaybePromise<void>
  /**
   * Forgets all that this subject's keys have used, except for limits whose key is `undefined` for it. The
   * subject may be any object that has what the key functions read, such as `{ body: { username: 'ada' } }`
   * for `byField('username')`; or a decision, for the keys that were charged. With `limits`, only the limits
   * of these names forget, and only their keys are read. Throws or rejects where a key needs the address of
   * a request whose connection is closed: give the decision then.
   */
  forget(
    subject: Subject | Record<string, unknown> | Decision,
    options?: { limits?: readonly string[] },
  ): MaybePromise<void>
  /** Calls the store without taking anything, for readiness probes. Never rejects. */
  health(): Promise<Health>
  /**
   * Releases what concurrency limits hold, waits for pending calls, and closes what the store opened, not
   * your client. Each step takes `timeoutMs` at most. Calls of `waitFor` resolve with a denial at once.
   */
  close(): Promise<void>
  readonly events: EventEmitter<LimiterEvents<Subject>>
}

/** Creates a limiter. Throws a `TypeError` for wrong options, with the fix in the message. */
export function createLimiter<Subject = unknown>(options: LimiterOptions<Subject>): Limiter<Subject> {
  return limiterFrom('createLimiter', readLimiterOptions('createLimiter', options))
}

/** Creates a limiter from settings that were read; `owner` is the function that errors name. */
export function limiterFrom<Subject>(owner: string, settings: LimiterSettings): Limiter<Subject> {
  const { entries, context, share, lease, healthKey, onStoreError, access } = settings
  const resolveCharge = chargeResolver(entries, context)
  const events = new EventEmitter<LimiterEvents<Subject>>()
  const fallback = fallbackStoreOf(settings.store)
  const scaled = scalerOf(share)
  const store = protectStore(settings.store, {
    ...settings,
    lease: lease && {
      ...lease,
      onReturnFailed: (error) => emitFailure(events, 'refundFailed', error, CLOSED),
    },
    onChange: (state, cause) => emit(events, 'storeState', [state, cause]),
  })
  const holdings = holdingsOf((error) => emitFailure(events, 'renewalFailed', error))
  const units = unitsOf(store)
  const localUnits = unitsOf(fallback)
  const decideOn = directDecider(settings, { units, hold: holdings.hold, decideWithout }) ?? decideTogether
  const waiting = createWaiting({
    access,
    resolveCharge,
    charge: politeCharge((parts, subject) => decide(parts, subject, (decision) => decision)),
    report: emitDenial,
    onRefundFailed: (error, decision) => emitFailure(events, 'refundFailed', error, decision),
  })
  const unsubscribe = settings.store.onLimitsLost?.((error) => emitFailure(events, 'limitsLost', error))

  function charge(subject: Subject, options?: { cost?: number }): MaybePromise<Decision> {
    const cost = options?.cost === undefined ? undefined : checkedCost(owner, 'cost', options.cost)
    return decideFor(subject, cost, emitDenial)
  }

  function emitDenial(decision: Decision, subject: unknown): Decision {
    if (!decision.allowed) emit(events, 'limited', [decision, subject as Subject])
    return decision
  }

  function decideFor(subject: Subject, cost: number | undefined, report: Report): MaybePromise<Decision> {
    if (access === undefined) return decideByLimits(subject, cost, report)
    return thenMaybe(access.check(subject), (known) => {
      if (known?.source === 'closed') return report(known, subject)
      return known ?? thenMaybe(decideByLimits(subject, cost, report), access.apply)
    })
  }

  function decideByLimits(
    subject: Subject,
    cost: number | undefined,
    report: Report,
  ): MaybePromise<Decision> {
    try {
      return decideOn(subject, cost, report)
    } catch (error) {
      return report(denyDisconnected(error), subject)
    }
  }

  function decideTogether(
    subject: unknown,
    cost: number | undefined,
    report: Report,
  ): MaybePromise<Decision> {
    const parts = resolveCharge(subject, cost)
    if (!isPromise(parts)) return decide(parts, subject, report)
    peerAddress(subject) // Node.js remembers it now
    return parts.then(
      (resolved) => decide(resolved, subject, report),
      (error) => report(denyDisconnected(error), subject),
    )
  }

  function decide(parts: readonly NamedPart[], subject: unknown, report: Report): MaybePromise<Decision> {
    if (parts.length === 0) return report(UNLIMITED, subject)
    let settle: (outcome: Verdict | StoreError) => void
    const known = store.charge(parts, (outcome) => settle(outcome))
    if (known !== undefined) return decisionBy(known, parts, subject, report)
    const later = new Promise<Verdict | StoreError>((resolve) => {
      settle = resolve
    })
    // Listeners and `onStoreError` run in the caller's async context, and not in that of the batch.
    return later.then((outcome) => decisionBy(outcome, parts, subject, report))
  }

  function decisionBy(
    outcome: Verdict | StoreError,
    parts: readonly NamedPart[],
    subject: unknown,
    report: Report,
  ): MaybePromise<Decision> {
    if (outcome instanceof Error)
      return thenMaybe(decideWithout(outcome, parts, subject), (decision) => report(decision, subject))
    return report(decideBy(outcome.source ?? 'store', parts, outcome, units), subject)
  }

  /** Returns the decision on a charge, which holds what it has taken of concurrency limits. */
  function decideBy(source: ChargeSource, charge: readonly NamedPart[], verdict: Verdict, keeper: Keeper) {
    const { refund, update } = keeper
    const decision = decisionOf(source, { charge, verdict, refund, update })
    return holdings.hold(decision, charge, verdict, keeper)
  }

  function decideWithout(
    error: StoreError,
    parts: readonly NamedPart[],
    subject: unknown,
  ): MaybePromise<Decision> {
    if (!(error instanceof CircuitOpenError)) emitFailure(events, 'storeError', error) // its cause was
    const choice = typeof onStoreError === 'function' ? onStoreError(error, subject) : onStoreError
    return thenMaybe(choice, (chosen) => {
      if (chosen !== 'local') return chosen === 'allow' ? OPEN : CLOSED
      const shares = scaled(parts)
      const [verdict] = fallback.charge([shares]) as [Verdict]
      return decideBy('local', shares, verdict, localUnits)
    })
  }

  /** Returns units whose changes let those who wait for them try again. */
  function unitsOf({ refund, update, renew }: Keeper): Keeper {
    return {
      refund: (refunds) => thenMaybe(refund(refunds), () => waiting.hurry(refunds)),
      update: update && ((keyed, change) => thenMaybe(update(keyed, change), () => waiting.hurry([keyed]))),
      renew,
    }
  }

  function updateLocally(keyed: KeyedPolicy, change: StateChange): void {
    fallback.update(keyed, change)
    waiting.hurry([keyed])
  }

  /** Returns the parts of a subject, or those that a decision charged. */
  function partsOf(subject: unknown, names: readonly string[] | undefined): MaybePromise<NamedPart[]> {
    const charged = chargeOf(subject)?.filter(({ name }) => names?.includes(name) !== false)
    return charged ?? resolveCharge(subject, 0, names)
  }

  const forget: Limiter<Subject>['forget'] = (subject, { limits: names } = {}) => {
    return thenMaybe(partsOf(subject, names), (parts) => {
      if (parts.length === 0) return
      if (fallback.size > 0) {
        fallback.forget(parts)
        waiting.hurry(parts)
      }
      return thenMaybe(store.forget(parts), () => waiting.hurry(parts))
    })
  }

  const byHand = changesByHand<Subject>({
    owner,
    limitNames: namesOf(entries, context.name),
    store: units,
    partsOf,
    fallback:
      onStoreError === 'allow' || onStoreError === 'deny' ? undefined : { update: updateLocally, scaled },
  })
  return {
    charge,
    waitFor: waiting.waitFor,
    peek: (subject) => decideFor(subject, 0, ChargeDecision.peeked),
    refund: (decision, options) => refundDecision(decision, options?.limits),
    release: releaseDecision,
    forget,
    ...byHand,
    health: () => healthOf(store, healthKey),
    async close() {
      unsubscribe?.()
      waiting.close()
      await holdings.releaseAll().catch((error) => emitFailure(events, 'refundFailed', error, CLOSED))
      await store.close()
    },
    events,
  }
}
