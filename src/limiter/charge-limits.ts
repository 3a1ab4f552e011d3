import { channel } from '../platform.js'
import type { Emitter } from '../util/emitter.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import type { Access, Mode, ModeSwitch } from './access-rules.js'
import type { Candidate } from './candidate/candidate.js'
import type { LimiterCore } from './core.js'
import type { Decision, Finish } from './decision.js'
import { chargeSubject } from './direct-decision.js'
import { emit, type LimiterEvents } from './events.js'
import { nearLimitDetector } from './near-limit.js'
import { showCharge, type Watches } from './watch-charges.js'

/** A message on the channel `headgate:decision`. */
export interface DecisionMessage {
  /** The name of the limiter. */
  readonly limiter: string | undefined
  /** The mode of the limiter. In `'report'` mode, nothing was denied, whatever the decision says. */
  readonly mode: Mode
  readonly decision: Decision
  /** What was charged: the request, or the subject of a limiter without HTTP. */
  readonly subject: unknown
}

/** What a limiter needs to charge a subject. */
export interface ChargeContext {
  readonly access: Access
  readonly core: LimiterCore
  readonly watches: Watches
  /** The limits that are only tried. A settings document may replace them. */
  candidate: Candidate | undefined
}

/** Charges a subject that the access rules did not decide. */
export function chargeLimits(
  { watches, candidate, core }: ChargeContext,
  subject: unknown,
  cost: number | undefined,
  finish: Finish,
): MaybePromise<Decision> {
  if (watches.length > 0) showCharge(watches, subject)
  if (candidate === undefined) return chargeSubject(core, subject, cost, finish)
  return candidate.chargeBeside(core, subject, cost, finish)
}

/** Charges the limits in force, but not the candidate, because a peek takes nothing. */
export function peekLimits(
  { watches, core }: ChargeContext,
  subject: unknown,
  cost: number | undefined,
  finish: Finish,
): MaybePromise<Decision> {
  if (watches.length > 0) showCharge(watches, subject)
  return chargeSubject(core, subject, cost, finish)
}

/** Decides on a subject by the access rules of a limiter. If they do not decide, `charge` does. */
export function chargeUnlessDecided(
  charge: typeof chargeLimits,
  limiter: ChargeContext,
  subject: unknown,
  cost: number | undefined,
  finish: Finish,
): MaybePromise<Decision> {
  if (limiter.access.check === undefined) return charge(limiter, subject, cost, finish)
  return chargeUnlessExempt(charge, limiter, subject, cost, finish)
}

/** A function of its own: without rules, no charge allocates the variables of its closure. */
function chargeUnlessExempt(
  charge: typeof chargeLimits,
  limiter: ChargeContext,
  subject: unknown,
  cost: number | undefined,
  finish: Finish,
): MaybePromise<Decision> {
  return thenMaybe(limiter.access.check?.(subject), (decision) =>
    decision === undefined ? charge(limiter, subject, cost, finish) : finish(decision, subject),
  )
}

const decisions = channel('headgate:decision')

/** Returns whether anything hears of the decisions of a limiter, so that they must be made and reported. */
export function isHeard(events: object): boolean {
  // Node.js's own count of the events with listeners. Asking for each event takes as long as a clock read.
  const { _eventsCount }: { readonly _eventsCount?: number } = events
  return _eventsCount !== 0 || decisions.hasSubscribers
}

/**
 * Creates the function that reports the decisions of a limiter to its listeners and to the channel
 * `headgate:decision`. Without listeners, it does nothing.
 */
export function decisionReporter<Subject>(
  limiter: string | undefined,
  modeSwitch: ModeSwitch,
  events: Emitter<LimiterEvents<Subject>>,
): Finish {
  const nearLimits = nearLimitDetector()
  return function reportDecision(decision, charged) {
    if (!isHeard(events)) return decision
    const subject = charged as Subject
    if (!decision.allowed && decision.source !== 'blocked' && events.listenerCount('denied') > 0)
      emit(events, 'denied', [decision, subject])
    if (events.listenerCount('decision') > 0) emit(events, 'decision', [decision, subject])
    if (events.listenerCount('nearLimit') > 0)
      for (const part of nearLimits(decision)) emit(events, 'nearLimit', [part, decision, subject])
    if (decisions.hasSubscribers) {
      const { mode } = modeSwitch
      decisions.publish({ limiter, mode, decision, subject } satisfies DecisionMessage)
    }
    return decision
  }
}
