import type { Policy, State, Step } from '../../policies/policy.js'
import type { Charge, PartVerdict, Verdict } from '../store.js'

/** Returns the stored state of a key. */
export type Read = (key: string, policy: Policy) => State | undefined

/** The verdict on a charge, and the states to write, by key, with the policies that read them. */
export interface Outcome {
  readonly verdict: Verdict
  readonly writes: Map<string, { readonly policy: Policy; readonly state: State }>
}

/**
 * Returns the decision on a charge, all or nothing, and what to write. Every store that runs the policies in
 * TypeScript makes this step atomic.
 */
export function evaluateCharge(charge: Charge, read: Read, nowMs: number): Outcome {
  const writes: Outcome['writes'] = new Map()
  const steps = charge.map(({ key, policy, cost }) => {
    const step = policy.take(writes.get(key)?.state ?? read(key, policy), nowMs, cost)
    if (step.allowed && step.next !== undefined) writes.set(key, { policy, state: step.next })
    return step
  })
  if (!steps.every((step) => step.allowed)) return deny(charge, steps, read, nowMs)
  return { verdict: { allowed: true, atMs: nowMs, parts: steps }, writes }
}

/** Returns the denial: of allowed parts a peek, of denied ones a step for the key's total in this charge. */
function deny(charge: Charge, steps: readonly Step[], read: Read, nowMs: number): Outcome {
  const wanted = new Map<string, number>()
  const writes: Outcome['writes'] = new Map()
  const parts = charge.map(({ key, policy, cost }, i): PartVerdict => {
    const sum = (wanted.get(key) ?? 0) + cost
    const isAllowed = steps[i]?.allowed
    if (isAllowed) wanted.set(key, sum)
    const step = policy.take(read(key, policy), nowMs, isAllowed ? 0 : sum)
    if (step.next !== undefined) writes.set(key, { policy, state: step.next })
    return step
  })
  return { verdict: { allowed: false, atMs: nowMs, parts }, writes }
}
