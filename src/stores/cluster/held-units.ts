import type { Operation, Outcome, Refund, Renew } from '../operation.js'
import { refundsOf } from '../shared/refunds.js'

/** How many entries there are at least before those whose time has passed are removed. */
const MIN_ENTRIES = 1000

/**
 * The units of `concurrency` that another process holds in a store. If it dies, no one else will release
 * them. A release names when time would have freed its units, to the bit, so units are found by that time
 * and their key.
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

  /** Returns the operations that release all units, and forgets them. */
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

  /** Removes units that time has freed: those of requests whose clients left are never released. */
  #purge(nowMs: number): void {
    for (const [id, { resetAtMs = 0 }] of this.#refunds) if (resetAtMs <= nowMs) this.#refunds.delete(id)
    this.#purgeAt = Math.max(MIN_ENTRIES, 2 * this.#refunds.size)
  }
}

function idOf({ key, resetAtMs }: Refund | Renew): string {
  return `${resetAtMs} ${key}`
}
