import { channel } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'
import type { Mode, ModeSwitch } from '../limiter/access-rules.js'
import type { Decision, Finish } from '../limiter/decision.js'
import { emit, type LimiterEvents } from '../limiter/events.js'
import { nearLimitDetector } from './near-limit.js'

/** A message on the channel `headgate:decision`. */
export interface DecisionMessage {
  /** The name of the limiter. */
  readonly limiter: string | undefined
  /** The mode of the limiter. With `'report'`, nothing was denied, whatever the decision says. */
  readonly mode: Mode
  readonly decision: Decision
  /** What was charged: the request, or the subject of a limiter without HTTP. */
  readonly subject: unknown
}

const decisions = channel('headgate:decision')

/**
 * Creates the function that reports the decisions of a limiter to its listeners and to the channel
 * `headgate:decision`. Without a listener, it builds nothing.
 */
export function decisionReporter<Subject>(
  limiter: string | undefined,
  modeSwitch: ModeSwitch,
  events: EventEmitter<LimiterEvents<Subject>>,
): Finish {
  const nearLimits = nearLimitDetector()
  return function reportDecision(decision, charged) {
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
