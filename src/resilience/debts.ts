import type { Policy, State } from '../policies/policy.js'
import type { KeyedPolicy, Part, Refund } from '../stores/store.js'

/** What is owed for a key: what was taken of it, as its policy sees it, however much that is. */
interface Debt {
  /** The key's policy, overdrawing. */
  readonly policy: Policy
  readonly state: State
}

/** How many debts are looked at for each new one that finds no room. */
const SEARCHED = 32

/**
 * Units that were let through for a store, by key, at most `maxKeys` keys. As the policy gives units back with time, debts lapse:
 * what is owed is what the store would still count, had it counted them.
 */
export class Debts {
  readonly #owed = new Map<string, Debt>()
  /** Those that the store is being charged with. */
  readonly #out = new Map<string, Debt>()
  readonly #maxKeys: number
  #hand: Iterator<[string, Debt]> | undefined

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys
  }

  get size(): number {
    return this.#owed.size
  }

  /** Notes what a part took some time ago. Gives what takes it back; nothing where there is no room for it. */
  add({ key, policy, cost }: Part, takenAtMs: number, nowMs = takenAtMs): Refund | undefined {
    const before = this.#owed.get(key)
    if (before === undefined && !this.#hasRoom(nowMs)) return undefined
    const overdrawing = policy.overdrawing()
    const left = takenAtMs === nowMs ? cost : leftOf(overdrawing, cost, takenAtMs, nowMs)
    const { allowed, next, resetAfterMs } = overdrawing.take(before?.state, nowMs, left)
    if (!allowed) return undefined
    if (next !== undefined) this.#owed.set(key, { policy: overdrawing, state: next })
    return { key, policy, cost: left, takenAtMs: nowMs, resetAtMs: nowMs + resetAfterMs }
  }

  /** What is out already is charged all the same, but does not come back. */
  forgive({ key, cost, takenAtMs, resetAtMs }: Refund, nowMs: number): void {
    const debts = this.#owed.has(key) ? this.#owed : this.#out
    const debt = debts.get(key)
    if (debt === undefined) return
    const state = debt.policy.refund(debt.state, nowMs, cost, takenAtMs, resetAtMs)
    if (state === undefined) debts.delete(key)
    else debts.set(key, { ...debt, state })
  }

  forget({ key }: KeyedPolicy): void {
    this.#owed.delete(key)
    this.#out.delete(key)
  }

  /** Takes out the oldest debts of up to so many keys that are not out, as parts to charge. Each is to be put back, or done. */
  takeOut(most: number, nowMs: number): Part[] {
    const parts: Part[] = []
    for (const [key, debt] of this.#owed) {
      if (parts.length === most) break
      if (this.#out.has(key)) continue
      this.#owed.delete(key)
      const cost = owedOf(debt, nowMs)
      if (cost === 0) continue
      this.#out.set(key, debt)
      parts.push({ key, policy: debt.policy, cost })
    }
    return parts
  }

  done({ key }: KeyedPolicy): void {
    this.#out.delete(key)
  }

  putBack({ key }: KeyedPolicy, nowMs: number): void {
    const debt = this.#out.get(key)
    if (!this.#out.delete(key) || debt === undefined) return // it was forgotten meanwhile
    const newer = this.#owed.get(key)
    this.#owed.set(key, debt)
    if (newer !== undefined) this.add({ key, policy: debt.policy, cost: owedOf(newer, nowMs) }, nowMs)
  }

  /** Those that lapsed make room. A hand goes round while it is full, so that all are looked at in the end. */
  #hasRoom(nowMs: number): boolean {
    for (let i = 0; i < SEARCHED && this.#owed.size >= this.#maxKeys; i++) {
      this.#hand ??= this.#owed.entries()
      const next = this.#hand.next()
      if (next.done) this.#hand = undefined
      else if (owedOf(next.value[1], nowMs) === 0) this.#owed.delete(next.value[0])
    }
    if (this.#owed.size >= this.#maxKeys) return false
    this.#hand = undefined // it would keep what has been deleted
    return true
  }
}

/** What is still owed of a cost that was taken some time ago. */
function leftOf(policy: Policy, cost: number, takenAtMs: number, nowMs: number): number {
  const { next } = policy.take(undefined, takenAtMs, cost)
  return next === undefined ? cost : owedOf({ policy, state: next }, nowMs)
}

function owedOf({ policy, state }: Debt, nowMs: number): number {
  return policy.limit - policy.take(state, nowMs, 0).remaining
}
