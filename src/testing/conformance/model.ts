import type { Policy, State } from '../../policies/policy.js'
import type { ChargeResult, Refund } from '../../stores/operation.js'
import { figures, type Parts } from './store-calls.js'

/**
 * The contract in its plainest form, for one process and without any bound: a map of states. A key that a
 * charge names several times is charged with the sum so far, and a denied charge shows every part as it
 * stands.
 */
export class ModelStore {
  readonly #states = new Map<string, State>()

  charge(charge: Parts, nowMs: number): ChargeResult {
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

  refund({ key, policy, cost, takenAtMs }: Refund, nowMs: number): void {
    const state = this.#states.get(key)
    if (state === undefined) return
    const left = policy.refund(state, nowMs, cost, takenAtMs)
    if (left === undefined) this.#states.delete(key)
    else this.#states.set(key, left)
  }

  forget(key: string): void {
    this.#states.delete(key)
  }

  #keep(key: string, state: State | undefined): void {
    if (state !== undefined) this.#states.set(key, state)
  }
}
