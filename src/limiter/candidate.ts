import { channel } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'
import type { GuardedStore } from '../resilience/guarded-store.js'
import type { Verdict } from '../stores/store.js'
import { catchMaybe, fromCallback, isPromise, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { CandidateFigures, type CandidateReport } from './candidate-report.js'
import {
  adjustDecision,
  chargeOf,
  type Decision,
  decisionOf,
  type NamedPart,
  refundDecision,
} from './decision.js'
import { emit, type LimiterEvents } from './events.js'
import type { Entry } from './parse-limits.js'
import type { LimitContext } from './read-limit.js'
import { chargeResolver } from './resolve-charge.js'

/** Limits that are tried beside those in force. They deny nobody. */
export interface Candidate {
  /** Charges the candidate. The outcome is for `compare`; `undefined` where it could not be decided. */
  charge(subject: unknown, cost: number | undefined): MaybePromise<Decision | undefined>
  /** Counts what the candidate decided beside what the limits in force did. */
  compare(enforced: Decision, tried: MaybePromise<Decision | undefined>, subject: unknown): void
  /** Makes the same change to what the candidate took beside a decision. */
  refund(enforced: Decision): MaybePromise<void>
  adjust(enforced: Decision, cost: number): MaybePromise<void>
  /** Forgets what the candidate took from a subject, or beside a decision. */
  forget(subject: unknown): MaybePromise<void>
  report(): CandidateReport
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

interface CandidateOptions<Subject> {
  readonly entries: readonly Entry[]
  readonly context: LimitContext
  readonly store: GuardedStore
  readonly events: EventEmitter<LimiterEvents<Subject>>
}

/**
 * Creates the candidate of a limiter. It has keys of its own, so that it counts as if it stood alone; its
 * charges go with those of the limits in force into the same batches of the store.
 */
export function createCandidate<Subject>({
  entries,
  context,
  store,
  events,
}: CandidateOptions<Subject>): Candidate {
  const keyHead = `${context.keyHead}/_candidate`
  const resolveCharge = chargeResolver(entries, { ...context, keyHead, known: new Map() })
  const figures = new CandidateFigures()
  /** What the candidate decided beside each decision of the limits in force. */
  const beside = new WeakMap<Decision, MaybePromise<Decision | undefined>>()
  const { refund, update } = store

  function charge(subject: unknown, cost: number | undefined): MaybePromise<Decision | undefined> {
    // The limits in force read the same subject, and use the same store: they report what is wrong.
    return catchMaybe<Decision | undefined>(
      () => thenMaybe(resolveCharge(subject, cost), chargeParts),
      () => undefined,
    )
  }

  function chargeParts(parts: readonly NamedPart[]): MaybePromise<Decision | undefined> {
    if (parts.length === 0) return undefined
    const verdict = fromCallback<Verdict>((settle) => store.charge(parts, settle))
    return thenMaybe(verdict, (known) => {
      return decisionOf(known.source ?? 'store', { charge: parts, verdict: known, refund, update })
    })
  }

  function count(enforced: Decision, tried: Decision | undefined, subject: unknown): void {
    figures.count(enforced, tried)
    if (tried === undefined) return
    if (events.listenerCount('candidate') > 0)
      emit(events, 'candidate', [tried, enforced, subject as Subject])
    if (candidates.hasSubscribers)
      candidates.publish({ limiter: context.name, tried, enforced, subject } satisfies CandidateMessage)
  }

  return {
    charge,
    compare(enforced, tried, subject) {
      if (enforced.parts.length > 0) beside.set(enforced, tried)
      if (isPromise(tried)) tried.then((known) => count(enforced, known, subject))
      else count(enforced, tried, subject)
    },
    refund: (enforced) => thenMaybe(beside.get(enforced), (tried) => tried && refundDecision(tried)),
    adjust: (enforced, cost) =>
      thenMaybe(beside.get(enforced), (tried) => tried && adjustDecision(tried, cost)),
    forget(subject) {
      const isDecision = chargeOf(subject) !== undefined
      const tried = isDecision ? beside.get(subject as Decision) : undefined
      const parts = isDecision
        ? thenMaybe(tried, (known) => (known && chargeOf(known)) ?? [])
        : resolveCharge(subject, 0)
      return thenMaybe(parts, (all) => (all.length === 0 ? undefined : store.forget(all)))
    },
    report: () => figures.report(),
  }
}
