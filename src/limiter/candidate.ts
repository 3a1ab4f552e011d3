import { channel } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'
import { protectStore } from '../pipe/protect-store.js'
import { memoryInternalsOf } from '../stores/memory/contract.js'
import type { Charge } from '../stores/operation.js'
import { request } from '../stores/shared/pipe.js'
import type { Store } from '../stores/store.js'
import { catchMaybe, isPromise, type MaybePromise, settleAll, thenMaybe } from '../util/maybe-promise.js'
import { changesByHand } from './by-hand.js'
import { checkTried } from './candidate-options.js'
import { type CandidateClients, CandidateFigures, type CandidateReport } from './candidate-report.js'
import {
  adjustDecision,
  chargeOf,
  type Decision,
  decisionOf,
  type NamedPart,
  refundDecision,
  triedBeside,
  withTried,
} from './decision.js'
import { emit, emitFailure, type LimiterEvents } from './events.js'
import type { Apply } from './ledger.js'
import type { LimiterSettings } from './parse-options.js'
import { chargeResolver } from './resolve-charge.js'
import { UNLIMITED } from './uncharged-decision.js'

/** Limits that are tried beside those in force. They deny nobody, and their failures change no decision. */
export interface Candidate {
  /** Charges the candidate; `undefined` where it could not be decided. Never throws or rejects. */
  charge(subject: unknown, cost: number | undefined): MaybePromise<Decision | undefined>
  /**
   * Counts what the candidate decided beside what the limits in force did. Returns their decision, by which
   * later changes find what the candidate took.
   */
  compare(enforced: Decision, tried: MaybePromise<Decision | undefined>, subject: unknown): Decision
  /** Makes the same change to what the candidate took beside a decision. Never throws or rejects. */
  refund(enforced: Decision): MaybePromise<void>
  adjust(enforced: Decision, cost: number): MaybePromise<void>
  /** Changes what the candidate took of a subject, or beside a decision. Never throws or rejects. */
  penalize(subject: unknown, units: number): MaybePromise<void>
  reward(subject: unknown, units: number): MaybePromise<void>
  forget(subject: unknown): MaybePromise<void>
  report(): CandidateReport
  /** Returns hashes of the clients that the report counts. */
  clients(): CandidateClients
}

/** What is published to the channel `headgate:candidate`. */
export interface CandidateMessage {
  /** The name of the limiter. */
  readonly limiter: string | undefined
  /** What the limits of `candidate` say. */
  readonly tried: Decision
  /** What the limits in force say. */
  readonly enforced: Decision
  /** What was charged: the request, or the subject of a limiter without HTTP. */
  readonly subject: unknown
}

const candidates = channel('headgate:candidate')

/**
 * Creates the candidate of a limiter; `undefined` where there is none. It has keys of its own, so that it counts
 * as if it stood alone, and in memory a store of its own, where it evicts no state of the limits in force. On a
 * remote store its charges go into the same batches, and it has a circuit breaker of its own.
 */
export function createCandidate<Subject>(
  settings: LimiterSettings,
  events: EventEmitter<LimiterEvents<Subject>>,
): Candidate | undefined {
  const { candidate: entries, context } = settings
  if (entries === undefined) return undefined
  const store = protectStore(storeFor(settings.store), { ...settings, isPublished: false })
  const resolveCharge = chargeResolver(entries, {
    ...context,
    checkKept: checkTried,
    keyHead: `${context.keyHead}/_candidate`,
    known: new Map(),
  })
  const figures = new CandidateFigures()
  const apply: Apply = (operation) => request(store, operation)

  /** Makes a call whose failure is only emitted. */
  function attempt<T>(call: () => MaybePromise<T>): MaybePromise<T | undefined> {
    return catchMaybe<T | undefined>(call, (error) => {
      emitFailure(events, 'candidateFailed', error)
      return undefined
    })
  }

  function chargeParts(parts: readonly NamedPart[]): MaybePromise<Decision> {
    if (parts.length === 0) return UNLIMITED
    return thenMaybe(apply<Charge>({ type: 'charge', parts }), (verdict) => {
      return decisionOf(verdict.source ?? 'store', { charge: parts, verdict, apply })
    })
  }

  function count(enforced: Decision, tried: Decision | undefined, subject: unknown): void {
    if (tried === undefined) {
      figures.countFailure()
      return
    }
    figures.count(enforced, tried)
    if (events.listenerCount('candidate') > 0)
      emit(events, 'candidate', [tried, enforced, subject as Subject])
    if (candidates.hasSubscribers)
      candidates.publish({ limiter: context.name, tried, enforced, subject } satisfies CandidateMessage)
  }

  /** Returns the keys of a subject, or those that were charged beside a decision. */
  function partsOf(subject: unknown): MaybePromise<NamedPart[]> {
    if (chargeOf(subject) === undefined) return resolveCharge(subject, 0)
    return thenMaybe(triedBeside(subject as Decision), (tried) => [...(chargeOf(tried) ?? [])])
  }

  const byHand = changesByHand<unknown>({
    owner: 'candidate',
    limitNames: undefined,
    apply,
    partsOf,
    fallback: undefined,
  })

  return {
    charge: (subject, cost) => attempt(() => thenMaybe(resolveCharge(subject, cost), chargeParts)),
    compare(enforced, tried, subject) {
      const decision = withTried(enforced, tried)
      if (isPromise(tried)) tried.then((known) => count(decision, known, subject))
      else count(decision, tried, subject)
      return decision
    },
    refund: (enforced) =>
      attempt(() => thenMaybe(triedBeside(enforced), (tried) => tried && refundDecision(tried))),
    adjust: (enforced, cost) =>
      attempt(() => thenMaybe(triedBeside(enforced), (tried) => tried && adjustDecision(tried, cost))),
    forget: (subject) =>
      attempt(() =>
        thenMaybe(partsOf(subject), (parts) =>
          settleAll(parts, (part) => apply({ ...part, type: 'forget' })),
        ),
      ),
    penalize: (subject, units) => attempt(() => byHand.penalize(subject as object, units)),
    reward: (subject, units) => attempt(() => byHand.reward(subject as object, units)),
    report: () => figures.report(),
    clients: () => figures.clients(),
  }
}

/** Returns where a candidate counts: beside the limits in force, but in memory in a store of its own. */
function storeFor(store: Store): Store {
  return memoryInternalsOf(store)?.makeSibling() ?? store
}
