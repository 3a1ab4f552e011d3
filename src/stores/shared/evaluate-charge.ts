import type { Policy, State, Step } from '../../policies/policy.js'
import type { ChargeResult, Part, PartResult } from '../operation.js'

/** Returns the stored state of a key. */
export type Read = (key: string, policy: Policy) => State | undefined

/** The verdict on a charge, and the states to write, by key, with the policies that read them. */
export interface Evaluation {
  readonly verdict: ChargeResult
  readonly writes: Map<string, { readonly policy: Policy; readonly state: State }>
}

/**
 * Returns the decision on a charge, all or nothing, and what to write. Every store that runs the policies in
 * TypeScript makes this step atomic.
 */
export function evaluateCharge(charged: readonly Part[], read: Read, nowMs: number): Evaluation {
  const [only] = charged
  if (only !== undefined && charged.length === 1) return evaluatePart(only, read, nowMs)
  const writes: Evaluation['writes'] = new Map()
  const steps = charged.map(({ key, policy, cost }) => {
    const step = policy.take(writes.get(key)?.state ?? read(key, policy), nowMs, cost)
    if (step.allowed && step.next !== undefined) writes.set(key, { policy, state: step.next })
    return step
  })
  if (!steps.every((step) => step.allowed)) return deny(charged, steps, read, nowMs)
  return { verdict: { type: 'charge', allowed: true, atMs: nowMs, parts: steps }, writes }
}

/** The usual case, a charge of one part, needs no total of parts. */
function evaluatePart({ key, policy, cost }: Part, read: Read, nowMs: number): Evaluation {
  const step = policy.take(read(key, policy), nowMs, cost)
  const writes: Evaluation['writes'] = new Map()
  if (step.next !== undefined) writes.set(key, { policy, state: step.next })
  return { verdict: { type: 'charge', allowed: step.allowed, atMs: nowMs, parts: [step] }, writes }
}

/** Returns the denial: of allowed parts a peek, of denied ones a step for the key's total in this charge. */
function deny(charged: readonly Part[], steps: readonly Step[], read: Read, nowMs: number): Evaluation {
  const wanted = new Map<string, number>()
  const writes: Evaluation['writes'] = new Map()
  const parts = charged.map(({ key, policy, cost }, i): PartResult => {
    const sum = (wanted.get(key) ?? 0) + cost
    const isAllowed = steps[i]?.allowed
    if (isAllowed) wanted.set(key, sum)
    const step = policy.take(read(key, policy), nowMs, isAllowed ? 0 : sum)
    if (step.next !== undefined) writes.set(key, { policy, state: step.next })
    return step
  })
  return { verdict: { type: 'charge', allowed: false, atMs: nowMs, parts }, writes }
}
