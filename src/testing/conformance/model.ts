import type { Policy, State } from '../../policies/policy.js'
import type {
  Block,
  ChargeResult,
  Operation,
  Refund,
  Renew,
  Result,
  Reward,
  Take,
} from '../../stores/operation.js'
import { figures, type Parts } from './store-calls.js'

/**
 * The contract in its plainest form, for one process and without any bound: a map of states. A key that a
 * charge names several times is charged with the sum so far, and a denied charge shows every part as it
 * stands.
 */
export class ModelStore {
  readonly #states = new Map<string, State>()

  apply(operation: Operation, nowMs: number): Result {
    switch (operation.type) {
      case 'charge':
        return this.#charge(operation.parts, nowMs)
      case 'refund':
        return this.#refund(operation, nowMs)
      case 'renew':
        return this.#renew(operation, nowMs)
      case 'forget':
        this.#states.delete(operation.key)
        return { type: 'forget' }
      default:
        return this.#change(operation, nowMs)
    }
  }

  /** Returns whether a key has a state that is fresh under a policy. */
  isFresh(key: string, policy: Policy, nowMs: number): boolean {
    const state = this.#states.get(key)
    return state !== undefined && policy.take(state, nowMs, 0).resetAfterMs === 0
  }

  #charge(charge: Parts, nowMs: number): ChargeResult {
    const sums = new Map<string, { policy: Policy; cost: number }>()
    const denials = new Map<string, State | undefined>()
    const steps = charge.map(({ key, policy, cost }) => {
      const sum = (sums.get(key)?.cost ?? 0) + cost
      const step = policy.take(this.#states.get(key), nowMs, sum)
      if (step.allowed) sums.set(key, { policy, cost: sum })
      return step
    })
    const allowed = steps.every((step) => step.allowed)
    if (allowed) {
      for (const [key, { policy, cost }] of sums)
        this.#keep(key, policy.take(this.#states.get(key), nowMs, cost).next)
      return { type: 'charge', allowed, atMs: nowMs, parts: steps.map(figures) }
    }
    charge.forEach(({ key }, i) => {
      if (!steps[i]?.allowed) denials.set(key, steps[i]?.next)
    })
    const parts = charge.map(({ key, policy }, i) => {
      const step = steps[i]
      return figures(step === undefined || step.allowed ? policy.take(this.#states.get(key), nowMs, 0) : step)
    })
    for (const [key, next] of denials) this.#keep(key, next)
    return { type: 'charge', allowed, atMs: nowMs, parts }
  }

  #refund({ key, policy, cost, takenAtMs, resetAtMs }: Refund, nowMs: number): Result {
    const state = this.#states.get(key)
    if (state !== undefined) this.#replace(key, policy.refund(state, nowMs, cost, takenAtMs, resetAtMs))
    return { type: 'refund' }
  }

  #renew({ key, policy, cost, takenAtMs, resetAtMs }: Renew, nowMs: number): Result {
    const state = policy.renew?.(this.#states.get(key), nowMs, cost, takenAtMs, resetAtMs)
    this.#replace(key, state)
    return { type: 'renew', resetAtMs: nowMs + policy.take(state, nowMs, 0).resetAfterMs }
  }

  #change(operation: Take | Reward | Block, nowMs: number): Result {
    const { type, key, policy } = operation
    const stored = this.#states.get(key)
    const isRead = type !== 'block' && operation.units === 0
    const state = isRead ? stored : policy.clampToNow(stored, nowMs)
    this.#keep(key, state)
    let taken = 0
    if (type === 'take') {
      const { remaining, debt = 0 } = policy.take(state, nowMs, 0)
      const isBanned = state !== undefined && (policy.bannedForMs?.(state, nowMs) ?? 0) > 0
      const mayOwe = isBanned ? 0 : Math.max(0, (policy.debt ?? 0) - debt)
      taken = Math.min(operation.units, remaining + mayOwe)
      this.#keep(key, policy.take(state, nowMs, taken, true).next)
    } else if (type === 'block') this.#keep(key, policy.block?.(state, nowMs, operation.forMs))
    else if (state !== undefined) this.#replace(key, policy.reward(state, nowMs, operation.units))
    const after = this.#states.get(key)
    const { remaining, moreAfterMs, resetAfterMs, debt } = policy.take(after, nowMs, 0)
    const bannedForMs = (after && policy.bannedForMs?.(after, nowMs)) ?? 0
    const figures = { atMs: nowMs, remaining, moreAfterMs, resetAfterMs, bannedForMs }
    const standing = debt === undefined ? figures : { ...figures, debt }
    return type === 'take' ? { type, taken, ...standing } : { type, ...standing }
  }

  /** Writes a state, unless it stays as it is. */
  #keep(key: string, state: State | undefined): void {
    if (state !== undefined) this.#states.set(key, state)
  }

  /** Writes a state, or removes it if it is fresh. */
  #replace(key: string, state: State | undefined): void {
    if (state === undefined) this.#states.delete(key)
    else this.#states.set(key, state)
  }
}
