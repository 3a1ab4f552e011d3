import { peerAddress } from '../keys/connection.js'
import { isPromise, type MaybePromise } from '../util/maybe-promise.js'
import type { Decision, Finish } from './decision.js'
import { denyDisconnected } from './uncharged-decision.js'

/** Charges a subject. Throws or rejects with what an option function threw. */
export type ChargeSubject = (
  subject: unknown,
  cost: number | undefined,
  finish: Finish,
) => MaybePromise<Decision>

/**
 * Creates a function that charges a subject: `read` reads it, and `decide` decides by what was read. Denies a
 * request that disconnected before its address was read.
 */
export function chargeSubject<T>(
  read: (subject: unknown, cost: number | undefined) => MaybePromise<T>,
  decide: (value: T, subject: unknown, finish: Finish) => MaybePromise<Decision>,
): ChargeSubject {
  return (subject, cost, finish) => {
    let value: MaybePromise<T>
    try {
      value = read(subject, cost)
    } catch (error) {
      return finish(denyDisconnected(error), subject)
    }
    if (!isPromise(value)) return decide(value, subject, finish)
    peerAddress(subject) // reading it makes Node.js cache it
    return value.then(
      (later) => decide(later, subject, finish),
      (error) => finish(denyDisconnected(error), subject),
    )
  }
}
