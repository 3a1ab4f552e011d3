import { type Charge, memoryStore, type Policy, type Refund, type Store, type Verdict } from 'headgate'
import { type LeaseSettings, leased } from '../../../../src/resilience/lease/leasing-store.js'

export const START_MS = 1_790_000_000_000

/** A store with a clock that a test sets, which answers a turn later, and tells what it was asked. */
export class RemoteStore implements Store {
  readonly name = 'remote'
  readonly asked: (readonly Charge[])[] = []
  readonly refunds: Refund[] = []
  /** Called before a charge is answered: to hold it up, or to fail. */
  before: () => Promise<void> | void = () => {}
  nowMs = START_MS
  isClosed = false
  /** A turn's charges from this one on are decided a millisecond later than those before, as by a second script. */
  splitsAt = Number.POSITIVE_INFINITY
  #turn: { readonly batch: Charge[]; readonly ready: Promise<void> } | undefined
  readonly #memory = memoryStore({ clock: () => this.nowMs })

  /** What is asked in one turn goes together, as a batcher has it. */
  async charge(charges: readonly Charge[]): Promise<readonly Verdict[]> {
    this.#turn ??= this.#begin()
    const { batch, ready } = this.#turn
    const first = batch.length
    batch.push(...charges)
    await ready
    return charges.flatMap((charge, i) => {
      if (first + i === this.splitsAt) this.nowMs++
      return this.#memory.charge([charge])
    })
  }

  #begin() {
    const batch: Charge[] = []
    this.asked.push(batch)
    Promise.resolve().then(() => {
      this.#turn = undefined
    })
    return { batch, ready: (async () => this.before())() }
  }

  async refund(refunds: readonly Refund[]): Promise<void> {
    this.refunds.push(...refunds)
    this.#memory.refund(refunds)
  }

  async forget(held: Parameters<Store['forget']>[0]): Promise<void> {
    this.#memory.forget(held)
  }

  async close(): Promise<void> {
    this.isClosed = true
  }

  remaining(policy: Policy, key = 'key'): number {
    return this.#memory.charge([[{ key, policy, cost: 0 }]])[0]?.parts[0]?.remaining ?? Number.NaN
  }
}

export const HOLD_MS = 100

/** A process's lease on a store, by the same clock. */
export function leaseOn(store: RemoteStore, settings: Partial<LeaseSettings> = {}): Store {
  return leased(store, { holdMs: HOLD_MS, processes: 1, now: () => store.nowMs - START_MS, ...settings })
}

/** Charges a key so many times at once, and waits for all verdicts. */
export async function chargeTimes(
  store: Store,
  policy: Policy,
  times: number,
  cost = 1,
  key = 'key',
): Promise<Verdict[]> {
  const answers = Array.from({ length: times }, () => store.charge([[{ key, policy, cost }]]))
  return (await Promise.all(answers)).map(([verdict]) => verdict as Verdict)
}

export const allowed = (verdicts: readonly Verdict[]) => verdicts.filter((verdict) => verdict.allowed).length
export const handedOut = (verdicts: readonly Verdict[]) =>
  verdicts.filter(({ source }) => source === 'lease').length
