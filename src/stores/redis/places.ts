import type { Policy, State } from '../../policies/policy.js'
import type { Part } from '../store.js'
import { packedPolicy } from './policy-codec.js'
import { stateIn } from './script-call.js'

/** Gives each distinct key and policy of a call a place, counted from 1 as Lua does. */
export class Places {
  readonly #keys = new Map<string, number>()
  readonly #policies = new Map<Policy, number>()
  /** The policy of each key. */
  readonly #policyOf: Policy[] = []

  /** A part as a script reads it: key, policy, cost. */
  of({ key, policy, cost }: Part): number[] {
    const policyPlace = this.#policies.get(policy) ?? this.#policies.size + 1
    this.#policies.set(policy, policyPlace)
    const keyPlace = this.#keys.get(key) ?? this.#policyOf.push(policy)
    this.#keys.set(key, keyPlace)
    return [keyPlace, policyPlace, cost]
  }

  get keys(): string[] {
    return [...this.#keys.keys()]
  }

  /** The policies as JSON, in the order of their places. */
  get policies(): string {
    return `[${Array.from(this.#policies.keys(), (policy) => packedPolicy(policy).json).join()}]`
  }

  /** How many numbers the states of all keys have. */
  get width(): number {
    return this.#policyOf.reduce((sum, { width }) => sum + width, 0)
  }

  /** The states in a reply, by key. */
  statesIn(numbers: DataView): Map<string, State> {
    const states = new Map<string, State>()
    let before = 0
    for (const [key, place] of this.#keys) {
      const { width } = this.#policyOf[place - 1] as Policy
      states.set(key, stateIn(numbers, before, width))
      before += width
    }
    return states
  }
}
