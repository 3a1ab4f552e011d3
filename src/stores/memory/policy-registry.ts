import { type Policy, signatureOf } from '../../policies/policy.js'

/** A policy's number, and how many states have it. */
interface Label {
  readonly policy: Policy
  readonly signature: string
  readonly label: number
  states: number
}

/**
 * Numbers that stand for policies: all that a state needs to tell which policy reads it. Policies of equal kind and parameters
 * decide alike and share one. With its last state a number goes to the next policy, so that policies which are made for each
 * request do not pile up.
 */
export class PolicyLabels {
  readonly #labels: (Label | undefined)[] = []
  readonly #vacant: number[] = []
  readonly #byPolicy = new Map<Policy, Label>()
  readonly #bySignature = new Map<string, Label>()
  #lastPolicy: Policy | undefined
  #last: Label | undefined

  /** How many policies have states. */
  get size(): number {
    return this.#bySignature.size
  }

  policyOf(label: number): Policy {
    return (this.#labels[label] as Label).policy
  }

  /** The number for a state more of a policy. */
  take(policy: Policy): number {
    if (policy !== this.#lastPolicy || this.#last === undefined) {
      this.#last =
        this.#byPolicy.get(policy) ?? this.#bySignature.get(signatureOf(policy)) ?? this.#add(policy)
      this.#lastPolicy = policy
    }
    this.#last.states++
    return this.#last.label
  }

  /** Tells that a state is gone. */
  give(label: number): void {
    const given = this.#labels[label] as Label
    given.states--
    if (given.states > 0) return
    this.#labels[label] = undefined
    this.#vacant.push(label)
    this.#byPolicy.delete(given.policy)
    this.#bySignature.delete(given.signature)
    if (this.#last === given) this.#last = undefined
  }

  #add(policy: Policy): Label {
    const label = this.#vacant.pop() ?? this.#labels.length
    const added = { policy, signature: signatureOf(policy), label, states: 0 }
    this.#labels[label] = added
    this.#byPolicy.set(policy, added)
    this.#bySignature.set(added.signature, added)
    return added
  }
}
