import { channel } from '../../platform.js'
import { localStatesOf } from '../../stores/shared/local-states.js'
import type { Store } from '../../stores/store.js'
import type { Emitter } from '../../util/emitter.js'
import { catchMaybe, type MaybePromise, thenMaybe } from '../../util/maybe-promise.js'
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
  /**
   * Makes a change to what it has counted of a subject or decision. Never throws or rejects: a failure is
   * only emitted.
   */
  change<Target>(target: Target, change: ChangeCore<Target>): MaybePromise<void>
  /** What its limits would have done. */
  readonly figures: CandidateFigures
  /** The limits used so far. */
  readonly limits: LimitContext['limits']
  /** Ends what the candidate does in the background, and closes its own store. Never rejects. */
  close(): Promise<void>
}

/** Changes what a core has counted of a subject or decision. */
export type ChangeCore<Target> = (core: LimiterCore, target: Target) => MaybePromise<void>

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
    change<Target>(target: Target, change: ChangeCore<Target>) {
      const receipt = receiptOf(target)
      const counted = receipt === undefined ? target : (receipt.candidate as MaybePromise<Target | undefined>)
      const changeCounted = () =>
        thenMaybe(counted, (of) => (of === undefined ? undefined : change(core, of)))
      return catchMaybe<void>(changeCounted, onFailure)
    },
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
