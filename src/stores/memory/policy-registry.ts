import { type Policy, signatureOf } from '../../policies/policy.js'

interface RegistryEntry {
  readonly policy: Policy
  readonly id: number
  states: number
}

/**
 * Numbers policies: a state needs no more to name the policy that reads it. Policies of equal specs decide
 * alike and share a number. A number is reused once its last state is gone, so that policies made for each
 * request do not accumulate.
 */
export class PolicyRegistry {
  readonly #entries: RegistryEntry[] = []
  readonly #freeIds: number[] = []
  readonly #bySignature = new Map<string, RegistryEntry>()

  policyOf(id: number): Policy {
    return (this.#entries[id] as RegistryEntry).policy
  }

  /** Counts one more state of a policy. Returns the policy's number. */
  acquire(policy: Policy): number {
    const entry = this.#bySignature.get(signatureOf(policy)) ?? this.#add(policy)
    entry.states++
    return entry.id
  }

  release(id: number): void {
    const entry = this.#entries[id]
    if (entry === undefined || --entry.states > 0) return
    this.#freeIds.push(id)
    this.#bySignature.delete(signatureOf(entry.policy))
  }

  #add(policy: Policy): RegistryEntry {
    const entry = { policy, id: this.#freeIds.pop() ?? this.#entries.length, states: 0 }
    this.#entries[entry.id] = entry
    this.#bySignature.set(signatureOf(policy), entry)
    return entry
  }
}
