import { isDisconnectedError } from '../keys/connection.js'
import { type Decision, type DecisionSource, withCharge } from './decision.js'

/** Creates a decision that no store made. */
function withoutCharge(source: DecisionSource, allowed: boolean, retryAfterMs = 0): Decision {
  const decision = {
    allowed,
    limit: Number.POSITIVE_INFINITY,
    remaining: allowed ? Number.POSITIVE_INFINITY : 0,
    resetAfterMs: 0,
    retryAfterMs,
    moreAfterMs: 0,
    policy: '',
    parts: Object.freeze([]),
    source,
  }
  return Object.freeze(withCharge(decision, Object.freeze([])))
}

/** No limit applies to the request. */
export const UNLIMITED = withoutCharge('none', true)

/** The store could not decide, and the request is allowed. */
export const OPEN = withoutCharge('open', true)

/** The store could not decide, and the request is denied. */
export const CLOSED = withoutCharge('closed', false, 1000)

/** The address of the request is blocked. */
export const BLOCKED = withoutCharge('blocked', false, Number.POSITIVE_INFINITY)

/** Returns the denial of a request that disconnected before its address was read. Rethrows others. */
export function denyDisconnected(error: unknown): Decision {
  if (isDisconnectedError(error)) return CLOSED
  throw error
}
