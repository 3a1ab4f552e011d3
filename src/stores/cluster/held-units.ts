import type { Operation, Outcome, Refund, Renew } from '../operation.js'
import { refundsOf } from '../shared/refunds.js'

/** The fewest entries before expired ones are removed. */
const MIN_ENTRIES = 1000

/**
 * The units of `concurrency` that another process holds in a store. If that process dies, this one releases
 * them. A release names the exact time at which its units would expire, so units are found by that time and
 * their key.
 */
export class HeldUnits {
  readonly #refunds = new Map<string, Refund>()
  #purgeAt = MIN_ENTRIES

  /** Records what the operations of the process have taken, renewed and released. */
  record(operations: readonly Operation[], outcomes: readonly Outcome[]): void {
    for (let i = 0; i < operations.length; i++) {
      const operation = operations[i] as Operation
      const outcome = outcomes[i] as Outcome
      if (outcome instanceof Error) continue
      if (operation.type === 'charge' && outcome.type === 'charge') {
        if (!outcome.allowed || !operation.parts.some(({ policy }) => policy.holdsUnits)) continue
        for (const refund of refundsOf(operation.parts, outcome)) this.#add(refund, outcome.atMs)
      } else if (operation.type === 'refund') this.#remove(operation)
      else if (operation.type === 'renew' && outcome.type === 'renew') {
        const { resetAtMs } = outcome
        this.#remove(operation)
        this.#add({ ...operation, type: 'refund', resetAtMs }, operation.takenAtMs)
      }
    }
  }

  /** Returns the operations that release all units, and removes the units. */
  takeReleases(): Refund[] {
    const refunds = [...this.#refunds.values()]
    this.#refunds.clear()
    return refunds
  }

  #add(refund: Refund, nowMs: number): void {
    if (!refund.policy.holdsUnits || refund.cost === 0) return
    if (this.#refunds.size >= this.#purgeAt) this.#purge(nowMs)
    const id = idOf(refund)
    const { cost = 0 } = this.#refunds.get(id) ?? {}
    this.#refunds.set(id, { ...refund, cost: cost + refund.cost })
  }

  #remove(released: Refund | Renew): void {
    const id = idOf(released)
    const held = this.#refunds.get(id)
    if (held === undefined) return
    if (held.cost > released.cost) this.#refunds.set(id, { ...held, cost: held.cost - released.cost })
    else this.#refunds.delete(id)
  }

  /** Removes expired units. No release removes those of requests whose clients left. */
  #purge(nowMs: number): void {
    for (const [id, { resetAtMs = 0 }] of this.#refunds) if (resetAtMs <= nowMs) this.#refunds.delete(id)
    this.#purgeAt = Math.max(MIN_ENTRIES, 2 * this.#refunds.size)
  }
}

function idOf({ key, resetAtMs }: Refund | Renew): string {
  return `${resetAtMs} ${key}`
}
