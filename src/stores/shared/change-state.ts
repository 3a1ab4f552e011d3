import type { Policy, State } from '../../policies/policy.js'
import type { StateChange } from '../store.js'

/** Returns a state changed at `nowMs`: the same object when nothing changes, `undefined` when it is fresh. */
export function changeState(
  policy: Policy,
  state: State | undefined,
  nowMs: number,
  change: StateChange,
): State | undefined {
  const changed = change(policy.clampToNow(state, nowMs), nowMs)
  if (changed === undefined || changed === state) return changed
  return policy.take(changed, nowMs, 0).resetAfterMs === 0 ? undefined : changed
}
