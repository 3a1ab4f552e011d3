import { banLeftMs, isBan, startBan } from '../../policies/ban.js'
import type { State } from '../../policies/policy.js'
import type { Operation, Result } from '../operation.js'

/**
 * Returns the state that an operation makes of a key's, and its result: the same state where nothing changes,
 * `undefined` where it is fresh.
 */
export function applyOperation(
  operation: Operation,
  before: State | undefined,
  nowMs: number,
): { readonly state: State | undefined; readonly result: Result } {
  const { type, policy } = operation
  const { state: changed, taken } = change(operation, policy.clampToNow(before, nowMs), nowMs)
  const { remaining, moreAfterMs, resetAfterMs } = policy.take(changed, nowMs, 0)
  const bannedForMs = changed && isBan(policy) ? banLeftMs(policy, changed, nowMs) : 0
  const standing = { atMs: nowMs, remaining, moreAfterMs, resetAfterMs, bannedForMs }
  const isRead = type !== 'block' && operation.units === 0
  const kept = resetAfterMs > 0 ? changed : undefined
  const state = isRead || changed === before ? before : kept
  return { state, result: type === 'take' ? { type, taken, ...standing } : { type, ...standing } }
}

/** Returns the changed state, and how many units it has taken. */
function change(operation: Operation, state: State | undefined, nowMs: number) {
  const { type, policy } = operation
  if (type === 'block') return { state: startBan(policy, state, nowMs, operation.forMs), taken: 0 }
  if (type === 'reward') return { state: state && policy.reward(state, nowMs, operation.units), taken: 0 }
  const taken = Math.min(operation.units, policy.take(state, nowMs, 0).remaining)
  return { state: policy.take(state, nowMs, taken).next ?? state, taken }
}
