import { fallbackStoreOf, partScaler } from '../pipe/fallback-store.js'
import { CircuitOpenError } from '../pipe/guard.js'
import { type LimiterPipe, limiterPipe } from '../pipe/limiter-pipe.js'
import { localPipe } from '../pipe/local-pipe.js'
import { request } from '../pipe/pipe.js'
import { reportUnitsBack } from '../pipe/report-units-back.js'
import { resendRefunds } from '../pipe/resend-refunds.js'
import type { Charge, ChargeResult, KeyedPolicy, Operation, ResultOf } from '../stores/operation.js'
import type { StoreError } from '../stores/store-error.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import {
  type ChargeParts,
  type ChargeSubject,
  type LimitContext,
  partsResolver,
  type ResolveParts,
  subjectCharger,
} from './bind-limit.js'
import { type ChargeSource, type Decision, decisionOf, type Finish, unchargedDecision } from './decision.js'
import { directCharge } from './direct-decision.js'
import { type Entry, namesOf } from './read-limits.js'
import type { LimiterSettings } from './read-options.js'
import type { Apply, NamedPart, Receipt } from './receipt.js'

/** Called for what happens besides deciding. */
export interface CoreHooks extends Pick<Parameters<typeof limiterPipe>[1], 'onChange' | 'isPublished'> {
  /** Called when the store could not decide a charge. */
  onStoreError(error: StoreError): void
  /** Called when a refund was lost that no caller awaits. */
  onRefundLost(error: StoreError): void
  /** Called when units of these keys came back. */
  onUnitsBack?(keys: readonly KeyedPolicy[]): void
  /** Holds the units of concurrency limits that a charge took, if any. */
  hold?(receipt: Receipt): void
  /** Releases units whose charge succeeded after its time-out. No decision holds them. */
  releaseLate?(parts: readonly NamedPart[], result: ChargeResult, apply: Apply): void
}

/** Decides the charges of a limiter, and applies operations to the units that they took. */
export interface LimiterCore {
  /** The names of the limits; `undefined` if a policy function determines one of them. */
  readonly limitNames: readonly string[] | undefined
  readonly context: LimitContext
  readonly store: LimiterPipe
  /** Applies an operation to the store. A refund that cannot be sent now is sent later. */
  readonly apply: Apply
  readonly fallback: LocalFallback
  readonly resolveParts: ResolveParts
  /** Charges a subject with all limits. */
  readonly charge: ChargeSubject
  /** Returns these functions for other limits, whose units are in the same store. */
  bind(entries: readonly Entry[]): Pick<LimiterCore, 'resolveParts' | 'charge'>
  readonly chargeParts: ChargeParts
  /**
   * Tries once more to send the refunds that could not be sent, and closes the store unless it is shared.
   */
  close(options?: { readonly isStoreShared?: boolean }): Promise<void>
}

/** The local fallback of a limiter, which decides while the store cannot, if `onStoreError` says so. */
interface LocalFallback {
  readonly apply: <O extends Operation>(operation: O) => ResultOf<O>
  /** Gives parts the share of their limits that the fallback grants. */
  readonly scaleParts: (parts: readonly NamedPart[]) => readonly NamedPart[]
  readonly isEmpty: () => boolean
}

/**
 * Creates the core of a limiter: it binds limits to a subject, sends one operation and builds the decision.
 */
export function limiterCore(settings: LimiterSettings, hooks: CoreHooks): LimiterCore {
  const { entries, canHold, context, onStoreError } = settings
  const { hold = () => {}, releaseLate = () => {} } = hooks
  const store = limiterPipe(settings.store, { ...settings, ...hooks, limiter: context.name })
  const reportingPipe = reportUnitsBack(store, (keys) => hooks.onUnitsBack?.(keys))
  const refundPipe = resendRefunds(reportingPipe, store, hooks.onRefundLost)
  const apply: Apply = (operation, onLate) => request(refundPipe, operation, onLate)
  const fallback = localFallback(settings, hooks)

  function chargeParts(
    parts: readonly NamedPart[],
    subject: unknown,
    finish: Finish,
  ): MaybePromise<Decision> {
    if (parts.length === 0) return finish(unchargedDecision('none'), subject)
    let settle: (outcome: ChargeResult | StoreError) => void
    const charge = { type: 'charge', parts } as const
    const outcome = store.send<Charge>(charge, (later) => settle(later), onLate)
    if (outcome !== undefined) return resolveOutcome(outcome, parts, subject, finish)
    const settled = new Promise<ChargeResult | StoreError>((resolve) => {
      settle = resolve
    })
    // Listeners and `onStoreError` run in the caller's async context, and not in that of the batch.
    return settled.then((later) => resolveOutcome(later, parts, subject, finish))
  }

  function resolveOutcome(
    outcome: ChargeResult | StoreError,
    parts: readonly NamedPart[],
    subject: unknown,
    finish: Finish,
  ): MaybePromise<Decision> {
    if (!(outcome instanceof Error)) return finish(createDecision(parts, outcome, apply), subject)
    return thenMaybe(decideWithoutStore(outcome, parts, subject), (decision) => finish(decision, subject))
  }

  function decideWithoutStore(
    error: StoreError,
    parts: readonly NamedPart[],
    subject: unknown,
  ): MaybePromise<Decision> {
    if (!(error instanceof CircuitOpenError)) hooks.onStoreError(error) // what opened the circuit was reported
    const givenChoice = typeof onStoreError === 'function' ? onStoreError(error, subject) : onStoreError
    return thenMaybe(givenChoice, (choice) => {
      if (choice !== 'local') return unchargedDecision(choice === 'allow' ? 'fail-open' : 'fail-closed')
      const shares = fallback.scaleParts(parts)
      const result = fallback.apply<Charge>({ type: 'charge', parts: shares })
      return createDecision(shares, result, fallback.apply, 'local')
    })
  }

  function createDecision(
    parts: readonly NamedPart[],
    result: ChargeResult,
    applyToUnits: Apply,
    source: ChargeSource = result.source ?? 'store',
  ): Decision {
    const receipt: Receipt = { parts, result, apply: applyToUnits, isRefundable: result.allowed }
    if (canHold) hold(receipt)
    return decisionOf(source, receipt, result)
  }

  function onLate(outcome: ChargeResult | StoreError, { parts }: Charge): void {
    if (!(outcome instanceof Error)) releaseLate(parts as readonly NamedPart[], outcome, apply)
  }

  function bind(boundEntries: readonly Entry[]) {
    const resolveParts = partsResolver(boundEntries, context)
    const charge =
      directCharge(
        { ...settings, entries: boundEntries },
        { apply, hold, chargeParts, decideWithoutStore },
      ) ?? subjectCharger(resolveParts, chargeParts)
    return { resolveParts, charge }
  }

  return {
    limitNames: namesOf(entries, context.name),
    context,
    store,
    apply,
    fallback,
    ...bind(entries),
    bind,
    chargeParts,
    async close({ isStoreShared = false } = {}) {
      await refundPipe.close()
      if (!isStoreShared) await store.close()
    },
  }
}

/**
 * Creates the local fallback of a limiter. Limiters that share keys in the store also share a fallback
 * store.
 */
function localFallback(
  { store, fallbackShare, holdUndecided = (pipe) => pipe }: LimiterSettings,
  { onUnitsBack }: CoreHooks,
): LocalFallback {
  const fallback = fallbackStoreOf(store)
  const pipe = reportUnitsBack(holdUndecided(localPipe(fallback), fallback), (keys) => onUnitsBack?.(keys))
  return {
    apply: (operation) => request(pipe, operation) as ResultOf<typeof operation>, // memory returns no promise
    scaleParts: partScaler(fallbackShare),
    isEmpty: () => fallback.size === 0,
  }
}
