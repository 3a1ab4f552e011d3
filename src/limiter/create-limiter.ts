import { EventEmitter } from 'node:events'
import { fallbackStoreOf, scalerOf } from '../pipe/fallback-store.js'
import { protectStore } from '../pipe/protect-store.js'
import { givesUnitsBack, keysOf, type Operation, type ResultOf } from '../stores/operation.js'
import { request } from '../stores/shared/pipe.js'
import { type MaybePromise, settleAll, thenMaybe } from '../util/maybe-promise.js'
import { changesByHand } from './by-hand.js'
import { type Candidate, createCandidate } from './candidate.js'
import { watchCreation } from './created-in-handler.js'
import { chargeDecider } from './decide-charge.js'
import {
  ChargeDecision,
  chargeOf,
  checkDecision,
  type Decision,
  type NamedPart,
  type Report,
  refundDecision,
} from './decision.js'
import { decisionReporter } from './decision-report.js'
import { directDecider } from './direct-decision.js'
import { emit, emitFailure, type LimiterEvents } from './events.js'
import { healthOf } from './health.js'
import { holdingsOf, type Keeper, releaseDecision } from './holdings.js'
import { withInspection } from './inspection.js'
import type { Limiter } from './limiter.js'
import { logIfDebugged } from './log-events.js'
import { checkMode } from './mode.js'
import type { LimiterOptions } from './options.js'
import { checkedCost, namesOf, readNames } from './parse-limits.js'
import { type LimiterSettings, readLimiterOptions } from './parse-options.js'
import { politeCharge } from './polite-charge.js'
import { chargeResolver } from './resolve-charge.js'
import { CLOSED, denyDisconnected } from './uncharged-decision.js'
import { outlastOutages } from './unsent-refunds.js'
import { createWaiting } from './wait-for.js'

/** Creates a limiter. Throws a `TypeError` for wrong options, with the fix in the message. */
export function createLimiter<Subject = unknown>(options: LimiterOptions<Subject>): Limiter<Subject> {
  return limiterFrom<Subject>('createLimiter', readLimiterOptions('createLimiter', options)).limiter
}

/** A limiter, and how decisions that it did not make are reported as its own. */
export interface ReportingLimiter<Subject> {
  readonly limiter: Limiter<Subject>
  readonly report: Report
  /** Charges as `limiter.charge` does, and reports nothing: for who can still deny what was allowed. */
  chargeUnreported(subject: Subject): MaybePromise<Decision>
}

/** Creates a limiter from settings that were read; `owner` is the function that errors name. */
export function limiterFrom<Subject>(owner: string, settings: LimiterSettings): ReportingLimiter<Subject> {
  const { entries, context, share, healthKey, onStoreError, access, modeSwitch } = settings
  const resolveCharge = chargeResolver(entries, context)
  const limitNames = namesOf(entries, context.name)
  const events = new EventEmitter<LimiterEvents<Subject>>()
  const report = decisionReporter(context.name, modeSwitch, events)
  const fallback = fallbackStoreOf(settings.store)
  const scaled = scalerOf(share)
  const onRefundFailed = (error: unknown) => emitFailure(events, 'refundFailed', error, CLOSED)
  const store = protectStore(settings.store, {
    ...settings,
    limiter: context.name,
    onChange(...change) {
      if (change[0] === 'closed') holdings.renewDue()
      emit(events, 'storeState', change)
    },
  })
  const holdings = holdingsOf((error) => emitFailure(events, 'renewalFailed', error), onRefundFailed)
  const remoteUnits = retryingKeeper((operation, onLate) => request(store, operation, onLate))
  const refunds = outlastOutages((refund) => remoteUnits.apply(refund), store, onRefundFailed)
  const units: Keeper = {
    apply: (operation, onLate) =>
      operation.type === 'refund'
        ? (refunds.refund(operation) as never)
        : remoteUnits.apply(operation, onLate),
  }
  const fallbackUnits = retryingKeeper(applyLocally)
  const { decideTogether, decideParts, decideWithout } = chargeDecider({
    resolveCharge,
    store,
    units,
    fallbackUnits,
    scaled,
    holdings,
    onStoreError,
    events,
  })
  const decideOn = directDecider(settings, { units, hold: holdings.hold, decideWithout }) ?? decideTogether
  const waiting = createWaiting({
    access,
    modeSwitch,
    resolveCharge,
    charge: politeCharge((parts, subject) => decideParts(parts, subject, (decision) => decision)),
    report,
    onRefundFailed: (error, decision) => emitFailure(events, 'refundFailed', error, decision),
  })
  const candidate = createCandidate(settings, events)
  const chargeLimits = candidate === undefined ? decideByLimits : chargeBeside(candidate)
  let watch = watchCreation(!settings.isOwnStore)
  const unsubscribe = settings.store.onLimitsLost?.((error) => emitFailure(events, 'limitsLost', error))

  function charge(subject: Subject, options?: { cost?: number }): MaybePromise<Decision> {
    const cost = options?.cost === undefined ? undefined : checkedCost(owner, 'cost', options.cost)
    return decideFor(subject, cost, report, chargeLimits)
  }

  function decideFor(
    subject: Subject,
    cost: number | undefined,
    report: Report,
    decide: typeof decideByLimits,
  ): MaybePromise<Decision> {
    if (access === undefined) return decide(subject, cost, report)
    const { check, apply } = access
    if (check === undefined) return thenMaybe(decide(subject, cost, report), apply)
    return thenMaybe(check(subject), (known) => {
      return known ? report(known, subject) : thenMaybe(decide(subject, cost, report), apply)
    })
  }

  /** Returns a function that also charges a candidate right after the limits in force, in the same batch. */
  function chargeBeside({ charge, compare }: Candidate): typeof decideByLimits {
    return (subject, cost, report) => {
      const enforced = decideByLimits(subject, cost, (decision) => decision)
      const tried = charge(subject, cost)
      return thenMaybe(enforced, (decision) => report(compare(decision, tried, subject), subject))
    }
  }

  function decideByLimits(
    subject: Subject,
    cost: number | undefined,
    report: Report,
  ): MaybePromise<Decision> {
    if (watch !== undefined) watch = watch(subject)
    try {
      return decideOn(subject, cost, report)
    } catch (error) {
      return report(denyDisconnected(error), subject)
    }
  }

  /** Returns a keeper that wakes charges which wait for units, after an operation that gives units back. */
  function retryingKeeper(apply: Keeper['apply']): Keeper {
    return {
      apply(operation, onLate) {
        const result = apply(operation, onLate)
        if (!givesUnitsBack(operation)) return result
        return thenMaybe(result, (known) => {
          waiting.retry(keysOf(operation))
          return known
        })
      },
    }
  }

  function applyLocally<O extends Operation>(operation: O): ResultOf<O> {
    const [outcome] = fallback.apply([operation])
    if (outcome instanceof Error) throw outcome
    return outcome as ResultOf<O>
  }

  /** Returns the parts of a subject, or those that a decision charged. */
  function partsOf(subject: unknown, names: readonly string[] | undefined): MaybePromise<NamedPart[]> {
    const charged = chargeOf(subject)?.filter(({ name }) => names?.includes(name) !== false)
    return charged ?? resolveCharge(subject, 0, names)
  }

  const forget: Limiter<Subject>['forget'] = (subject, options) => {
    const names = readNames(owner, options, limitNames)
    const change = () => thenMaybe(partsOf(subject, names), forgetParts)
    return changeBoth(names, change, ({ forget }) => forget(subject))
  }

  /** Changes the limits in force, and, unless only some of them are named, the candidate. */
  function changeBoth(
    names: readonly string[] | undefined,
    change: () => MaybePromise<void>,
    changeTried: (candidate: Candidate) => MaybePromise<void>,
  ): MaybePromise<void> {
    if (candidate === undefined || names !== undefined) return change()
    return settleAll([change, () => changeTried(candidate)], (each) => each())
  }

  function forgetParts(parts: readonly NamedPart[]): MaybePromise<void> {
    return settleAll(parts, ({ key, policy }) => {
      const forget = { type: 'forget', key, policy } as const
      if (fallback.size > 0) fallbackUnits.apply(forget)
      return units.apply(forget)
    })
  }

  const byHand = changesByHand<Subject>({
    owner,
    limitNames,
    apply: units.apply,
    partsOf,
    fallback:
      onStoreError === 'allow' || onStoreError === 'deny'
        ? undefined
        : { apply: fallbackUnits.apply, scaled },
  })
  const limiter: Limiter<Subject> = {
    charge,
    waitFor: waiting.waitFor,
    peek: (subject) => decideFor(subject, 0, ChargeDecision.peeked, decideByLimits),
    refund(decision, options) {
      checkDecision(owner, decision)
      const names = readNames(owner, options, limitNames)
      const refund = () => refundDecision(decision, names)
      return changeBoth(names, refund, (tried) => tried.refund(decision))
    },
    release(decision) {
      checkDecision(owner, decision)
      return releaseDecision(decision)
    },
    forget,
    penalize: (subject, units, options) =>
      changeBoth(
        options?.limits,
        () => byHand.penalize(subject, units, options),
        (tried) => tried.penalize(subject, units),
      ),
    reward: (subject, units, options) =>
      changeBoth(
        options?.limits,
        () => byHand.reward(subject, units, options),
        (tried) => tried.reward(subject, units),
      ),
    blockFor: byHand.blockFor,
    adjust: (decision, actualCost, options) =>
      changeBoth(
        options?.limits,
        () => byHand.adjust(decision, actualCost, options),
        (tried) => tried.adjust(decision, actualCost),
      ),
    candidateReport: () => candidate?.report(),
    health: () => healthOf(store, healthKey),
    async close() {
      unsubscribe?.()
      waiting.close()
      await holdings.releaseAll().catch(onRefundFailed)
      await refunds.close()
      await store.close()
    },
    get mode() {
      return modeSwitch.mode
    },
    set mode(mode) {
      modeSwitch.mode = checkMode(owner, 'mode', mode)
      waiting.endIfReport()
    },
    events,
    name: context.name,
  }
  const { keyHead, secret, known } = context
  withInspection(limiter, {
    store: settings.store,
    keyHead,
    secret,
    listingOf: settings.listingOf,
    limits: known,
    onStoreError,
    share,
    apply: (operation) => request(store, operation),
    candidateClients: () => candidate?.clients(),
  })
  logIfDebugged(limiter)
  const chargeUnreported = (subject: Subject) =>
    decideFor(subject, undefined, (decision) => decision, chargeLimits)
  return { limiter, report, chargeUnreported }
}
