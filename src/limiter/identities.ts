import { shownIdentity } from '../keys/value-identity.js'
import { chargedParts, type Decision } from './decision.js'

/** The identity that a limit charged. */
export interface ChargedIdentity {
  /** The name of the limit. */
  readonly limit: string
  /**
   * The identity as stores keep it. IP addresses are in plain text, unless there is a `secret`. All others
   * are hashed.
   */
  readonly identity: string
}

/**
 * Returns the identity that each limit of a decision charged, in the order of its `parts`. The list is empty
 * if nothing was charged, and for a copy of a decision.
 *
 * @example
 * ```ts
 * import { createLimiter, identitiesOf } from 'headgate'
 *
 * const limiter = createLimiter({ limit: 10, window: '1h', key: (id: string) => id })
 * limiter.events.on('denied', (decision) => {
 *   for (const { limit, identity } of identitiesOf(decision)) console.log(limit, identity)
 * })
 * ```
 */
export function identitiesOf(decision: Decision): readonly ChargedIdentity[] {
  return (chargedParts(decision) ?? []).map(({ name, identity }) => ({
    limit: name,
    identity: shownIdentity(identity),
  }))
}
