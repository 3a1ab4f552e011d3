import type { Policy, State } from '../../policies/policy.js'
import type { Block, Charge, Operation, Refund, Renew, Result, Reward, Take } from '../operation.js'

/** An operation of one key. */
export type KeyOperation = Exclude<Operation, Charge>

/** What an operation makes of a state, and its result. */
interface Applied {
  /** The same state where nothing changes; `undefined` where it is fresh. */
  readonly state: State | undefined
  readonly result: Result
}

/** The results of operations that only say that they were done. */
export const REFUNDED = { type: 'refund' } as const
export const FORGOTTEN = { type: 'forget' } as const

/** Applies an operation to a key's state. */
export function applyOperation(operation: KeyOperation, before: State | undefined, nowMs: number): Applied {
  if (operation.type === 'forget') return { state: undefined, result: FORGOTTEN }
  if (operation.type === 'refund') return { state: refunded(operation, before, nowMs), result: REFUNDED }
  if (operation.type === 'renew') return renew(operation, before, nowMs)
  return change(operation, before, nowMs)
}

function refunded(operation: Refund, before: State | undefined, nowMs: number): State | undefined {
  const { policy, cost, takenAtMs, resetAtMs } = operation
  return before && policy.refund(before, nowMs, cost, takenAtMs, resetAtMs)
}

function renew(operation: Renew, before: State | undefined, nowMs: number): Applied {
  const { type, policy, cost, takenAtMs, resetAtMs } = operation
  const renewUnits = policy.renew as NonNullable<Policy['renew']>
  const state = renewUnits(before, nowMs, cost, takenAtMs, resetAtMs)
  return { state, result: { type, resetAtMs: nowMs + policy.take(state, nowMs, 0).resetAfterMs } }
}

/** Applies an operation whose result says what the key has afterwards. */
function change(operation: Take | Reward | Block, before: State | undefined, nowMs: number): Applied {
  const { type, policy } = operation
  const { state: changed, taken } = changedBy(operation, policy.clampToNow(before, nowMs), nowMs)
  const { remaining, moreAfterMs, resetAfterMs } = policy.take(changed, nowMs, 0)
  const bannedForMs = (changed && policy.bannedForMs?.(changed, nowMs)) ?? 0
  const standing = { atMs: nowMs, remaining, moreAfterMs, resetAfterMs, bannedForMs }
  const isRead = type !== 'block' && operation.units === 0
  const kept = resetAfterMs > 0 ? changed : undefined
  const state = isRead || changed === before ? before : kept
  return { state, result: type === 'take' ? { type, taken, ...standing } : { type, ...standing } }
}

/** Returns the changed state, and how many units it has taken. */
function changedBy(operation: Take | Reward | Block, state: State | undefined, nowMs: number) {
  const { type, policy } = operation
  if (type === 'block') {
    const block = policy.block as NonNullable<Policy['block']>
    return { state: block(state, nowMs, operation.forMs), taken: 0 }
  }
  if (type === 'reward') return { state: state && policy.reward(state, nowMs, operation.units), taken: 0 }
  const taken = Math.min(operation.units, policy.take(state, nowMs, 0).remaining)
  return { state: policy.take(state, nowMs, taken).next ?? state, taken }
}
