import type { Policy, State } from '../policies/policy.js'
import type { Charge, PartVerdict, Verdict } from './store.js'

/** A state to keep, and the policy that reads it. */
export interface Write {
  readonly policy: Policy
  readonly state: State
}

/** What a charge decided: the verdict, and the states to keep. */
export interface Outcome {
  readonly verdict: Verdict
  readonly writes: ReadonlyMap<string, Write>
}

/**
 * Decides a charge of any number of parts, all or nothing, without writing: the one piece that every store which
 * runs the TypeScript policies builds its atomicity around. `read` gives a key's present state.
 */
export function decideParts(
  charge: Charge,
  read: (key: string) => State | undefined,
  nowMs: number,
): Outcome {
  const taken = new Map<string, Write>()
  const current = (key: string) => taken.get(key)?.state ?? read(key)
  const steps = charge.map(({ key, policy, cost }) => {
    const step = policy.take(current(key), nowMs, cost)
    if (step.allowed && step.next !== undefined) taken.set(key, { policy, state: step.next })
    return step
  })
  if (steps.every((step) => step.allowed)) {
    return { verdict: { allowed: true, atMs: nowMs, parts: steps }, writes: taken }
  }
  const kept = new Map<string, Write>()
  const parts = charge.map(({ key, policy }, i): PartVerdict => {
    const step = steps[i] as PartVerdict & { next?: State }
    if (step.allowed) return policy.take(read(key), nowMs, 0)
    if (step.next !== undefined && !taken.has(key)) kept.set(key, { policy, state: step.next })
    return step
  })
  return { verdict: { allowed: false, atMs: nowMs, parts }, writes: kept }
}
