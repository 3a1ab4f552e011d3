import type { Policy, State } from '../policies/policy.js'
import type { Held, Part, Refund } from './store.js'

/** What is owed for a key: what was taken of it, as its policy sees it, however much that is. */
interface Debt {
  /** The key's policy, overdrawing. */
  readonly policy: Policy
  readonly state: State
}

/**
 * Units that were let through for a store, by key, at most `maxKeys` keys. As the policy gives units back with time, debts lapse:
 * what is owed is what the store would still count, had it counted them.
 */
export class Debts {
  readonly #byKey = new Map<string, Debt>()
  readonly #maxKeys: number

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys
  }

  get size(): number {
    return this.#byKey.size
  }

  /** Notes what a part takes. Gives what takes it back; nothing where there is no room for it. */
  add({ key, policy, cost }: Part, nowMs: number): Refund | undefined {
    const before = this.#byKey.get(key)
    if (before === undefined && !this.#hasRoom(nowMs)) return undefined
    const overdrawing = policy.overdrawing()
    const { next, resetAfterMs } = overdrawing.take(before?.state, nowMs, cost)
    if (next === undefined) return undefined
    this.#byKey.set(key, { policy: overdrawing, state: next })
    return { key, policy, cost, takenAtMs: nowMs, resetAtMs: nowMs + resetAfterMs }
  }

  forgive({ key, cost, takenAtMs, resetAtMs }: Refund, nowMs: number): void {
    const debt = this.#byKey.get(key)
    if (debt === undefined) return
    const state = debt.policy.refund(debt.state, nowMs, cost, takenAtMs, resetAtMs)
    if (state === undefined) this.#byKey.delete(key)
    else this.#byKey.set(key, { ...debt, state })
  }

  forget({ key }: Held): void {
    this.#byKey.delete(key)
  }

  /** Takes out the oldest debts of up to so many keys, as parts to charge. */
  takeOut(most: number, nowMs: number): Part[] {
    const parts: Part[] = []
    for (const [key, { policy, state }] of this.#byKey) {
      if (parts.length === most) break
      this.#byKey.delete(key)
      const cost = policy.limit - policy.take(state, nowMs, 0).remaining
      if (cost > 0) parts.push({ key, policy, cost })
    }
    return parts
  }

  /** Those that lapsed make room, looked at from the oldest on. */
  #hasRoom(nowMs: number): boolean {
    if (this.#byKey.size < this.#maxKeys) return true
    for (const [key, { policy, state }] of this.#byKey) {
      if (policy.take(state, nowMs, 0).resetAfterMs > 0) break
      this.#byKey.delete(key)
    }
    return this.#byKey.size < this.#maxKeys
  }
}
