import type { Policy, State, Step } from '../../policies/policy.js'
import type {
  Block,
  Charge,
  ChargeResult,
  Operation,
  Part,
  PartResult,
  Refund,
  Renew,
  Result,
  Reward,
  Take,
} from '../operation.js'

/** Returns the state of a key as it was read, or `undefined` if there is none. */
export type ReadState = (key: string, policy: Policy) => State | undefined

/** A state to write, and the policy that reads it. `undefined` removes the key. */
export interface Write {
  readonly policy: Policy
  readonly state: State | undefined
  /** The time until the state is fresh, if an allowed charge has computed it. */
  readonly resetAfterMs?: number | undefined
  /** Set if only units were given back, whose policy may not be the one that the state was written under. */
  readonly keepsExpiry?: true
}

/** The states to write, by key. */
export type Writes = ReadonlyMap<string, Write>

/**
 * Applies a batch of operations to states, in order. Each one sees what those before it have written. An
 * operation for which `read` or a policy throws changes nothing, and has the error in place of its result.
 * The others still apply.
 */
export function applyBatch(
  operations: readonly Operation[],
  read: ReadState,
  nowMs: number,
): { readonly results: readonly (Result | Error)[]; readonly writes: Writes } {
  const writes = new Map<string, Write>()
  const current: ReadState = (key, policy) => {
    const written = writes.get(key)
    return written === undefined ? read(key, policy) : written.state
  }
  const readNow = operations.length === 1 ? read : current
  const results: (Result | Error)[] = []
  for (const operation of operations) {
    try {
      if (operation.type === 'charge') {
        const { verdict, writes: changed } = evaluateCharge(operation.parts, readNow, nowMs)
        for (const [key, write] of changed) writes.set(key, write)
        results.push(verdict)
        continue
      }
      const { type, key, policy } = operation
      // forget needs no state, so it also removes unreadable keys
      const before = type === 'forget' ? undefined : readNow(key, policy)
      const { state, result } = applyOperation(operation, before, nowMs)
      if (type === 'refund' && state !== before)
        writes.set(key, {
          ...(writes.get(key) ?? { policy, keepsExpiry: true }),
          state,
          resetAfterMs: undefined,
        })
      else if (state !== before || type === 'forget') writes.set(key, { policy, state })
      results.push(result)
    } catch (error) {
      results.push(error as Error)
    }
  }
  return { results, writes }
}

/** The verdict on a charge, and the states to write, by key, with the policies that read them. */
export interface Evaluation {
  readonly verdict: ChargeResult
  readonly writes: Map<string, Write & { readonly state: State }>
}

/**
 * Returns the decision on a charge, all or nothing, and what to write. Every store that runs the policies in
 * TypeScript makes this step atomic.
 */
export function evaluateCharge(charged: readonly Part[], read: ReadState, nowMs: number): Evaluation {
  const writes: Evaluation['writes'] = new Map()
  const [only] = charged
  if (only !== undefined && charged.length === 1) {
    const { key, policy, cost } = only // the usual case needs no total of parts
    const step = policy.take(read(key, policy), nowMs, cost)
    if (step.next !== undefined) writes.set(key, writeOf(policy, step.next, step))
    return { verdict: { type: 'charge', allowed: step.allowed, atMs: nowMs, parts: [step] }, writes }
  }
  const steps = charged.map(({ key, policy, cost }) => {
    const step = policy.take(writes.get(key)?.state ?? read(key, policy), nowMs, cost)
    if (step.allowed && step.next !== undefined) writes.set(key, writeOf(policy, step.next, step))
    return step
  })
  if (!steps.every((step) => step.allowed)) return deny(charged, steps, read, nowMs)
  return { verdict: { type: 'charge', allowed: true, atMs: nowMs, parts: steps }, writes }
}

/** Returns the write of a step. If the step is allowed, a peek would now return the same figures. */
function writeOf(policy: Policy, state: State, { allowed, resetAfterMs }: Step) {
  return { policy, state, resetAfterMs: allowed ? resetAfterMs : undefined }
}

/**
 * Returns the denial. An allowed part gets the figures of a peek. A denied part gets those of a take of its
 * cost plus the costs of the allowed parts before it on the same key.
 */
function deny(charged: readonly Part[], steps: readonly Step[], read: ReadState, nowMs: number): Evaluation {
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

/** An operation of one key. */
export type KeyOperation = Exclude<Operation, Charge>

/** The state after an operation, and its result. */
interface Applied {
  /** The same state if nothing changes; `undefined` if it is fresh. */
  readonly state: State | undefined
  readonly result: Result
}

/** The results of operations that only say that they were done. */
export const REFUNDED = { type: 'refund' } as const
export const FORGOTTEN = { type: 'forget' } as const

/** Applies an operation to a key's state. */
export function applyOperation(operation: KeyOperation, before: State | undefined, nowMs: number): Applied {
  if (operation.type === 'forget') return { state: undefined, result: FORGOTTEN }
  if (operation.type === 'refund') return { state: refundState(operation, before, nowMs), result: REFUNDED }
  if (operation.type === 'renew') return renew(operation, before, nowMs)
  return change(operation, before, nowMs)
}

function refundState(operation: Refund, before: State | undefined, nowMs: number): State | undefined {
  const { policy, cost, takenAtMs, resetAtMs } = operation
  return before && policy.refund(before, nowMs, cost, takenAtMs, resetAtMs)
}

function renew(operation: Renew, before: State | undefined, nowMs: number): Applied {
  const { type, policy, cost, takenAtMs, resetAtMs } = operation
  const state = policy.renew?.(before, nowMs, cost, takenAtMs, resetAtMs) ?? before
  return { state, result: { type, resetAtMs: nowMs + policy.take(state, nowMs, 0).resetAfterMs } }
}

/** Applies an operation whose result says what the key has afterwards. */
function change(operation: Take | Reward | Block, before: State | undefined, nowMs: number): Applied {
  const { type, policy } = operation
  const { state: changed, taken } = changeState(operation, policy.clampToNow(before, nowMs), nowMs)
  const { remaining, moreAfterMs, resetAfterMs, unitsAfterMs, debt } = policy.take(changed, nowMs, 0)
  const bannedForMs = (changed && policy.bannedForMs?.(changed, nowMs)) ?? 0
  const figures = { atMs: nowMs, remaining, moreAfterMs, resetAfterMs, bannedForMs }
  const standing = debt === undefined ? figures : { ...figures, debt }
  const isRead = type !== 'block' && operation.units === 0
  const kept = resetAfterMs > 0 ? changed : undefined
  const state = isRead || changed === before ? before : kept
  if (type !== 'take') return { state, result: { type, ...standing } }
  const units = unitsAfterMs !== undefined && { unitsAfterMs }
  return { state, result: { type, taken, ...standing, ...units } }
}

/** Returns the changed state, and how many units it has taken. */
function changeState(operation: Take | Reward | Block, state: State | undefined, nowMs: number) {
  const { type, policy } = operation
  if (type === 'block') return { state: policy.block?.(state, nowMs, operation.forMs) ?? state, taken: 0 }
  if (type === 'reward') return { state: state && policy.reward(state, nowMs, operation.units), taken: 0 }
  const taken = Math.min(operation.units, takeable(policy, state, nowMs))
  return { state: policy.take(state, nowMs, taken, true).next ?? state, taken }
}

/** Returns how many units are left, and may be owed. During a ban, none may be. */
function takeable(policy: Policy, state: State | undefined, nowMs: number): number {
  const { remaining, debt = 0 } = policy.take(state, nowMs, 0)
  if (policy.debt === undefined || policy.debt === 0) return remaining
  if (state && (policy.bannedForMs?.(state, nowMs) ?? 0) > 0) return 0
  return Math.max(0, remaining + policy.debt - debt)
}
