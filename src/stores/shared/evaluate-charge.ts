import type { Policy, State, Step } from '../../policies/policy.js'
import type { Charge, PartVerdict, Verdict } from '../store.js'

/** A state to keep, and the policy that reads it. */
export interface Write {
  readonly policy: Policy
  readonly state: State
}

/** Gives a key's present state, which the policy reads. */
export type Read = (key: string, policy: Policy) => State | undefined

/** What a charge decided: the verdict, and the states to keep. */
export interface Outcome {
  readonly verdict: Verdict
  readonly writes: ReadonlyMap<string, Write>
}

/**
 * Decides a charge of any number of parts, all or nothing, without writing: the one piece that every store which
 * runs the TypeScript policies builds its atomicity around.
 */
export function evaluateCharge(charge: Charge, read: Read, nowMs: number): Outcome {
  const taken = new Map<string, Write>()
  const steps = charge.map(({ key, policy, cost }) => {
    const step = policy.take(taken.get(key)?.state ?? read(key, policy), nowMs, cost)
    if (step.allowed && step.next !== undefined) taken.set(key, { policy, state: step.next })
    return step
  })
  if (steps.every((step) => step.allowed)) {
    return { verdict: { allowed: true, atMs: nowMs, parts: steps }, writes: taken }
  }
  return denied(charge, steps, read, nowMs)
}

/** Nothing is taken, so each part tells how its key stands; a denied one asks for all that the charge wanted of the key. */
function denied(charge: Charge, steps: readonly Step[], read: Read, nowMs: number): Outcome {
  const wanted = new Map<string, number>()
  const writes = new Map<string, Write>()
  const parts = charge.map(({ key, policy, cost }, i): PartVerdict => {
    const sum = (wanted.get(key) ?? 0) + cost
    if (steps[i]?.allowed) wanted.set(key, sum)
    const step = policy.take(read(key, policy), nowMs, steps[i]?.allowed ? 0 : sum)
    if (step.next !== undefined) writes.set(key, { policy, state: step.next })
    return step
  })
  return { verdict: { allowed: false, atMs: nowMs, parts }, writes }
}
