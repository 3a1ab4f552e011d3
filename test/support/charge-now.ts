import type { EventEmitter } from 'node:events'
import type { Decision, Limiter } from 'headgate'

/**
 * Charges a limiter that decides before `charge` returns, such as one in memory. Returns the decision that it
 * emits, in report mode also that of a denial.
 */
export function chargeNow<Subject>(
  limiter: Limiter<Subject>,
  subject: Subject,
  options?: { cost?: number },
): Decision {
  const events: EventEmitter = limiter.events as never
  const emitted: Decision[] = []
  const keep = (decision: Decision) => void emitted.push(decision)
  events.on('decision', keep)
  void limiter.charge(subject, options)
  events.off('decision', keep)
  const [decision] = emitted
  if (decision === undefined) throw new Error('The limiter did not decide at once.')
  return decision
}
