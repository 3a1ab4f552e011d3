import type { Policy, State } from '../../policies/policy.js'
import type { Operation, Result } from '../operation.js'
import type { Charge, Refund, Verdict } from '../store.js'
import { type AnyOperation, applyInOrder, type Writes } from './apply-in-order.js'
import { checkCosts, checkedRead, checkOperations, checkRefunds, checkTime } from './validate.js'

/** A state for a store to write. */
export interface StateWrite {
  readonly key: string
  /** The state that replaces the key's; `undefined` removes the key. */
  readonly state: State | undefined
  /**
   * For how long the state has to be kept, in whole milliseconds; `Infinity`: until it is replaced. 0 only
   * where the key is removed.
   */
  readonly ttlMs: number
}

/** Returns the state of a key as it was read; `undefined` where there is none. Called once for each key. */
export type ReadState = (key: string, policy: Policy) => State | undefined

/**
 * Returns the verdicts on a batch of charges, and the states to write, at most one for each key. It is pure:
 * a store reads the states of the charges' keys, calls this with the time of its clock, and writes the
 * states, all in one atomic step, which may be repeated from the start.
 *
 * Throws a `TypeError` for a cost that is not a whole number of at least 0, for a time that is not finite, and
 * where `read` returns neither `undefined` nor as many finite numbers as the policy's `width`, such as a
 * promise. Throws what `read` throws.
 */
export function decideCharges(
  charges: readonly Charge[],
  read: ReadState,
  nowMs: number,
): { readonly verdicts: readonly Verdict[]; readonly writes: readonly StateWrite[] } {
  for (const charge of charges) checkCosts('decideCharges', charge)
  const { results, writes } = applyAll('decideCharges', charges, read, nowMs)
  return { verdicts: results as readonly Verdict[], writes }
}

/**
 * Returns the states to write for some refunds, at most one for each key; none for keys without a state. It
 * is pure, as `decideCharges` is.
 *
 * Throws a `TypeError` for a wrong cost, time or state, as `decideCharges` does, and what `read` throws.
 */
export function applyRefunds(
  refunds: readonly Refund[],
  read: ReadState,
  nowMs: number,
): readonly StateWrite[] {
  checkRefunds('applyRefunds', refunds)
  const operations = refunds.map((refund) => ({ refund }))
  return applyAll('applyRefunds', operations, read, nowMs).writes
}

/**
 * Returns the results of some operations, and the states to write, at most one for each key. It is pure, as
 * `decideCharges` is.
 *
 * Throws a `TypeError` for an invalid operation, for one that does not fit its policy, and for a wrong time or
 * state, as `decideCharges` does, and what `read` throws.
 */
export function applyOperations(
  operations: readonly Operation[],
  read: ReadState,
  nowMs: number,
): { readonly results: readonly Result[]; readonly writes: readonly StateWrite[] } {
  checkOperations('applyOperations', operations)
  const { results, writes } = applyAll('applyOperations', operations, read, nowMs)
  return { results: results as readonly Result[], writes }
}

function applyAll(owner: string, operations: readonly AnyOperation[], read: ReadState, nowMs: number) {
  checkTime(owner, nowMs)
  const before = new Map<string, State | undefined>()
  const readChecked = checkedRead(owner, read)
  const readOnce: ReadState = (key, policy) => {
    if (!before.has(key)) before.set(key, readChecked(key, policy))
    return before.get(key)
  }
  const { results, writes } = applyInOrder(operations, readOnce, nowMs)
  const error = results.find((result) => result instanceof Error)
  if (error !== undefined) throw error
  const changed = Array.from(writes).filter(([key, { state }]) => state !== before.get(key))
  return { results, writes: changed.map(([key, write]) => stateWrite(key, write, nowMs)) }
}

type Write = Writes extends ReadonlyMap<string, infer W> ? W : never

function stateWrite(key: string, { policy, state }: Write, nowMs: number): StateWrite {
  const ttlMs = state === undefined ? 0 : Math.ceil(policy.take(state, nowMs, 0).resetAfterMs)
  return { key, state: ttlMs === 0 ? undefined : state, ttlMs }
}
