import { type Policy, type State, signatureOf } from '../../policies/policy.js'

/** A state that newcomers share. */
export interface Shared {
  readonly key: string
  readonly policy: Policy
  state: State | undefined
}

/** Limits that have such a state at once. Only policies made for each request are more, and the oldest of those are forgotten. */
const MOST_LIMITS = 1000

/** The states, one per limit, that newcomers share when there is no room for them. */
export class Overflow {
  readonly #states = new Map<string, Shared>()

  /** The state that has this key itself. */
  get(key: string): Shared | undefined {
    return this.#states.size === 0 ? undefined : this.#states.get(key)
  }

  /** The state that a client would share, if anybody does. */
  find(key: string, policy: Policy): Shared | undefined {
    return this.#states.size === 0 ? undefined : this.#states.get(sharedKey(key, policy))
  }

  /** The state that a client shares. */
  of(key: string, policy: Policy): Shared {
    const shared = this.find(key, policy) ?? { key: sharedKey(key, policy), policy, state: undefined }
    this.#states.delete(shared.key) // it is the newest from now on: what a charge shares must not go before it is decided
    for (const oldest of this.#states.keys()) {
      if (this.#states.size < MOST_LIMITS) break
      this.#states.delete(oldest)
    }
    this.#states.set(shared.key, shared)
    return shared
  }
}

/** Limits apart: a key is the same for all clients of a limit up to the brace. No key at rest begins with a NUL. */
function sharedKey(key: string, policy: Policy): string {
  return `\0${key.slice(0, Math.max(0, key.indexOf('{')))}${signatureOf(policy)}`
}
