import type { Adjustments } from '../limiter/adjustments.js'
import type { LimiterParts } from '../limiter/limiter-methods.js'
import { wrongUse } from '../util/validate.js'
import { OWNER } from './option-functions.js'

/**
 * Makes the functions `adjustments` and `waitFor` reject for the limiter of a guard. A guard counts no units
 * of clients, so changing them would have no effect, and its requests wait by another rule.
 */
export function refuseUnits<Subject>(parts: LimiterParts<Subject>): void {
  const refuse = (name: string, fix: string) => async (): Promise<never> => {
    throw wrongUse(OWNER, `there is no ${name} for a guard, which counts no units of clients`, fix)
  }
  const block = 'To keep a client out, use its option block.'
  parts.adjustments = {
    refund: refuse('refund', 'To give a place back, call limiter.release(decision).'),
    adjust: refuse('adjust', 'A request takes one place.'),
    forget: refuse('forget', 'A denied client may try again at any time.'),
    reward: refuse('reward', 'To serve a request first, use its option priority.'),
    penalize: refuse('penalize', block),
    blockFor: refuse('blockFor', block),
  } satisfies Adjustments<Subject>
  parts.waiting = {
    waitFor: refuse('waitFor', 'Call guard.run(fn), or limiter.charge, which wait for maxWait.'),
    retry() {},
    onRulesChanged() {},
    close() {},
  }
}
