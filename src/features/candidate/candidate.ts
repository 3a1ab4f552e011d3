import { channel } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'
import type { LimitContext } from '../../limiter/bind-limit.js'
import { checkCandidatePolicy } from '../../limiter/candidate-options.js'
import { type LimiterCore, limiterCore } from '../../limiter/core.js'
import { asDecided, type Decision, receiptOf } from '../../limiter/decision.js'
import { emit, emitFailure, type LimiterEvents } from '../../limiter/events.js'
import type { LimiterSettings } from '../../limiter/read-options.js'
import { localStatesOf } from '../../stores/shared/local-states.js'
import type { Store } from '../../stores/store.js'
import { catchMaybe, isPromise, type MaybePromise, settleAll, thenMaybe } from '../../util/maybe-promise.js'
import { type AdjustmentOptions, adjustmentsOf, type DirectAdjustments } from '../adjustments.js'
import { type CandidateClients, CandidateFigures, type CandidateReport } from './candidate-report.js'

/** Limits to try beside those in force. They never deny a request, and their failures change no decision. */
export interface Candidate {
  /**
   * Returns a function that charges as `charge` does, and right after that charges the candidate, in the
   * same batch.
   */
  chargeBeside(charge: LimiterCore['charge']): LimiterCore['charge']
  /** Returns adjustments that make the same changes to what the candidate has counted. */
  adjustBeside<Subject>(adjustments: DirectAdjustments<Subject>): DirectAdjustments<Subject>
  report(): CandidateReport
  /** Returns hashes of the clients that the report counts. */
  clients(): CandidateClients
  /** Returns the identities in keys of the clients that the report lists. */
  identities(): readonly string[]
  /** The limits used so far. */
  readonly limits: LimitContext['limits']
  /** Ends what the candidate does in the background, and closes its own store. Never rejects. */
  close(): Promise<void>
}

/** A message on the channel `headgate:candidate`. */
export interface CandidateMessage {
  /** The name of the limiter. */
  readonly limiter: string | undefined
  /** The decision of the limits of `candidate`. */
  readonly candidate: Decision
  /** The decision of the limits in force. */
  readonly decision: Decision
  /** What was charged: the request, or the subject of a limiter without HTTP. */
  readonly subject: unknown
}

const candidates = channel('headgate:candidate')

/**
 * Creates the candidate of a limiter: a second limiter, whose decisions are only counted; `undefined` if the
 * options have none. `ruleCore` adds the rules of settings. It counts as if it stood alone, under its own keys. In memory it has its own store,
 * where it evicts no state of the limits in force. A remote store gets its charges in the same batches,
 * through its own circuit breaker.
 */
export function createCandidate<Subject>(
  settings: LimiterSettings,
  events: EventEmitter<LimiterEvents<Subject>>,
  ruleCore: (core: LimiterCore) => LimiterCore = (core) => core,
): Candidate | undefined {
  const { candidate: entries, context } = settings
  if (entries === undefined) return undefined
  const onFailure = (error: unknown) => emitFailure(events, 'candidateFailed', error)
  const store = storeFor(settings.store)
  const ownCore = limiterCore(
    {
      ...settings,
      entries,
      store,
      onStoreError: 'allow',
      context: {
        ...context,
        checkSupported: checkCandidatePolicy,
        limiterScope: `${context.limiterScope}/_candidate`,
        limits: new Map(),
      },
    },
    { isPublished: false, onStoreError: onFailure, onRefundLost: onFailure },
  )
  const core = ruleCore(ownCore)
  const adjustments = adjustmentsOf<unknown>('candidate', core, 'allow')
  const figures = new CandidateFigures()

  function charge(subject: unknown, cost: number | undefined): MaybePromise<Decision | undefined> {
    const decided = catchMaybe<Decision | undefined>(
      () => core.charge(subject, cost, asDecided),
      (error) => void onFailure(error),
    )
    return thenMaybe(decided, (decision) => (isUndecided(decision) ? undefined : decision))
  }

  function compare(
    decision: Decision,
    candidate: MaybePromise<Decision | undefined>,
    subject: unknown,
  ): void {
    const receipt = receiptOf(decision)
    if (receipt !== undefined) receipt.candidate = candidate
    if (isPromise(candidate)) candidate.then((decided) => count(decision, decided, subject))
    else count(decision, candidate, subject)
  }

  function count(decision: Decision, candidate: Decision | undefined, subject: unknown): void {
    if (candidate === undefined) {
      figures.countFailure()
      return
    }
    if (candidate.source === 'blocked') return // by settings, which say the same of the limits in force
    figures.count(decision, candidate)
    if (events.listenerCount('candidate') > 0)
      emit(events, 'candidate', [candidate, decision, subject as Subject])
    if (candidates.hasSubscribers)
      candidates.publish({ limiter: context.name, candidate, decision, subject } satisfies CandidateMessage)
  }

  /**
   * Creates a function that changes the limits in force, and, unless the options name some of them, makes
   * the same change to the units that the candidate took of a subject or beside a decision. A failure of
   * the latter is only emitted.
   */
  function changerOf<Subject>(inForce: DirectAdjustments<Subject>) {
    return <Target>(
      target: Target,
      options: AdjustmentOptions | undefined,
      change: (
        to: DirectAdjustments<Subject>,
        target: Target,
        options?: AdjustmentOptions,
      ) => MaybePromise<void>,
    ): MaybePromise<void> => {
      if (options?.limits !== undefined) return change(inForce, target, options)
      const receipt = receiptOf(target)
      const changeCandidate = () =>
        catchMaybe(() => {
          if (receipt === undefined) return change(adjustments, target)
          return thenMaybe(
            receipt.candidate,
            (candidate) => candidate && change(adjustments, candidate as Target),
          )
        }, onFailure)
      return settleAll([() => change(inForce, target, options), changeCandidate], (each) => each())
    }
  }

  return {
    chargeBeside: (chargeInForce) => (subject, cost, finish) => {
      const charged = chargeInForce(subject, cost, asDecided)
      const candidate = charge(subject, cost)
      return thenMaybe(charged, (decision) => {
        compare(decision, candidate, subject)
        return finish(decision, subject)
      })
    },
    adjustBeside(inForce) {
      const change = changerOf(inForce)
      return {
        refund: (decision, options) => change(decision, options, (to, each, only) => to.refund(each, only)),
        forget: (subject, options) => change(subject, options, (to, each, only) => to.forget(each, only)),
        penalize: (subject, units, options) =>
          change(subject, options, (to, each, only) => to.penalize(each, units, only)),
        reward: (subject, units, options) =>
          change(subject, options, (to, each, only) => to.reward(each, units, only)),
        blockFor: inForce.blockFor,
        adjust: (decision, cost, options) =>
          change(decision, options, (to, each, only) => to.adjust(each, cost, only)),
      }
    },
    report: () => figures.report(),
    clients: () => figures.clients(),
    identities: () => figures.identities(),
    limits: ownCore.context.limits,
    close: () => core.close({ isStoreShared: store === settings.store }).catch(onFailure),
  }
}

/** Returns whether the store of a candidate could not decide, or the address of a request is unknown. */
function isUndecided(decision: Decision | undefined): boolean {
  return decision?.source === 'fail-open' || decision?.source === 'fail-closed'
}

/**
 * Returns the store in which a candidate counts: a new one if the limiter's is in memory, and otherwise the
 * limiter's own.
 */
function storeFor(store: Store): Store {
  return localStatesOf(store)?.createSibling() ?? store
}
