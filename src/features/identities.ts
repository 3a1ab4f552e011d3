import { shownIdentity } from '../keys/identity.js'
import { chargedParts, type Decision } from '../limiter/decision.js'

/** Whom a limit charged. */
export interface ChargedIdentity {
  /** The name of the limit. */
  readonly limit: string
  /**
   * The identity as stores keep it: an address or a route in clear, unless there is a `secret`; others
   * hashed.
   */
  readonly identity: string
}

/**
 * Returns the identity that each limit of a decision charged, in the order of its `parts`. The list is empty
 * if nothing was charged, and for a copy of a decision.
 */
export function identitiesOf(decision: Decision): readonly ChargedIdentity[] {
  return (chargedParts(decision) ?? []).map(({ name, identity }) => ({
    limit: name,
    identity: shownIdentity(identity),
  }))
}
