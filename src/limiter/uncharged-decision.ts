import { isDisconnectedError } from '../keys/connection.js'
import { type Decision, decisionWithoutCharge } from './decision.js'

/** Returns the decision on a request to which no limit applies. */
export function unlimited(): Decision {
  return decisionWithoutCharge('none', true)
}

/** Returns the decision that allows a request although the store could not decide. */
export function failOpen(): Decision {
  return decisionWithoutCharge('open', true)
}

/** Returns the decision that denies a request because the store could not decide. */
export function failClosed(): Decision {
  return decisionWithoutCharge('closed', false, 1000)
}

/** Returns the decision on a request whose address is blocked. */
export function blocked(): Decision {
  return decisionWithoutCharge('blocked', false, Number.POSITIVE_INFINITY)
}

/** Returns the denial of a request that disconnected before its address was read. Rethrows others. */
export function denyDisconnected(error: unknown): Decision {
  if (isDisconnectedError(error)) return failClosed()
  throw error
}
