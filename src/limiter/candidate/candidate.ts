import { channel } from '../../platform.js'
import { localStatesOf } from '../../stores/shared/local-states.js'
import type { Store } from '../../stores/store.js'
import type { Emitter } from '../../util/emitter.js'
import { catchMaybe, type MaybePromise, settleAll, thenMaybe } from '../../util/maybe-promise.js'
import { type AdjustmentOptions, adjustmentsOf, type DirectAdjustments } from '../adjustments.js'
import { checkCandidatePolicy } from '../candidate-options.js'
import type { LimiterCore } from '../core.js'
import { limiterCore } from '../create-core.js'
import { asDecided, type Decision, type Finish, receiptOf } from '../decision.js'
import { chargeSubject } from '../direct-decision.js'
import { emit, emitFailure, type LimiterEvents } from '../events.js'
import type { LimiterSettings } from '../read-options.js'
import type { LimitContext } from '../resolve-parts.js'
import { CandidateFigures } from './candidate-report.js'

/** Limits to try beside those in force. They never deny a request, and their failures change no decision. */
export interface Candidate {
  /** Charges the limits in force and right after that, in the same batch, the candidate. */
  chargeBeside(
    inForce: LimiterCore,
    subject: unknown,
    cost: number | undefined,
    finish: Finish,
  ): MaybePromise<Decision>
  /** Returns adjustments that make the same changes to what the candidate has counted. */
  adjustBeside<Subject>(adjustments: DirectAdjustments<Subject>): DirectAdjustments<Subject>
  /** What its limits would have done. */
  readonly figures: CandidateFigures
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
 * Creates the candidate of a limiter: a second limiter, whose decisions are only counted. Returns
 * `undefined` if the options have none. `ruleCore` adds the rules of settings. The candidate counts under
 * its own keys, as if there were no other limits. In memory, it has its own store, so that it evicts no
 * state of the limits in force. With a remote store, its charges join the same batches, but have their own
 * circuit breaker.
 */
export function createCandidate<Subject>(
  settings: LimiterSettings,
  events: Emitter<LimiterEvents<Subject>>,
  ruleCore?: (core: LimiterCore) => void,
): Candidate | undefined {
  const { candidate: entries, context } = settings
  if (entries === undefined) return undefined
  const onFailure = (error: unknown) => emitFailure(events, 'candidateFailed', error)
  const store = storeFor(settings.store)
  const core = limiterCore(
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
  ruleCore?.(core)
  const adjustments = adjustmentsOf<unknown>('candidate', core)
  const figures = new CandidateFigures()

  function count(decision: Decision, candidate: Decision | undefined, subject: unknown): void {
    if (candidate === undefined || isUndecided(candidate)) {
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
   * Makes a change to the limits in force, and to what the candidate has counted of the same subject or
   * decision. If the options name limits, changes only those in force. If the candidate's change fails, only
   * emits it.
   */
  function changeBoth<Subject, Target>(
    inForce: DirectAdjustments<Subject>,
    target: Target,
    options: AdjustmentOptions | undefined,
    change: (
      to: DirectAdjustments<Subject>,
      target: Target,
      options?: AdjustmentOptions,
    ) => MaybePromise<void>,
  ): MaybePromise<void> {
    const changeInForce = () => change(inForce, target, options)
    if (options?.limits !== undefined) return changeInForce()
    const receipt = receiptOf(target)
    const changeCandidate = () =>
      thenMaybe(receipt === undefined ? target : receipt.candidate, (counted) =>
        counted === undefined ? undefined : change(adjustments, counted as Target),
      )
    return settleAll([changeInForce, () => catchMaybe(changeCandidate, onFailure)], (each) => each())
  }

  return {
    chargeBeside(inForce, subject, cost, finish) {
      const charged = chargeSubject(inForce, subject, cost, asDecided)
      const candidate = catchMaybe<Decision | undefined>(
        () => chargeSubject(core, subject, cost, asDecided),
        (error) => void onFailure(error),
      )
      return thenMaybe(charged, (decision) => {
        const receipt = receiptOf(decision)
        if (receipt !== undefined) receipt.candidate = candidate
        thenMaybe(candidate, (decided) => count(decision, decided, subject))
        return finish(decision, subject)
      })
    },
    adjustBeside: (inForce) => ({
      ...inForce,
      refund: (decision, options) => changeBoth(inForce, decision, options, (to, ...of) => to.refund(...of)),
      forget: (subject, options) => changeBoth(inForce, subject, options, (to, ...of) => to.forget(...of)),
      penalize: (subject, units, options) =>
        changeBoth(inForce, subject, options, (to, of, only) => to.penalize(of, units, only)),
      reward: (subject, units, options) =>
        changeBoth(inForce, subject, options, (to, of, only) => to.reward(of, units, only)),
      adjust: (decision, cost, options) =>
        changeBoth(inForce, decision, options, (to, of, only) => to.adjust(of, cost, only)),
    }),
    figures,
    limits: core.settings.context.limits,
    close: () => core.close({ isStoreShared: store === settings.store }).catch(onFailure),
  }
}

/**
 * Returns whether a candidate could not decide: its store failed, or the request's IP address is unknown.
 */
function isUndecided({ source }: Decision): boolean {
  return source === 'fail-open' || source === 'fail-closed'
}

/**
 * Returns the store in which a candidate counts: a new one if the limiter's is in memory, and otherwise the
 * limiter's own.
 */
function storeFor(store: Store): Store {
  return localStatesOf(store)?.createSibling() ?? store
}
