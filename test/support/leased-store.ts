import { memoryStore, type Policy, type Store } from 'headgate'
import type { ChargeResult, KeyedPolicy, Refund } from 'headgate/store'
import { type LeaseSettings, leasedStore } from '../../src/pipe/lease/leased-store.js'
import type { Parts } from '../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore, refundStore } from './store-calls.js'
import { storeOf } from './store-of.js'

export const START_MS = 1_790_000_000_000

/** A store with a clock that the test sets. It answers a turn later, and records its batches and refunds. */
export class RemoteStore implements Store {
  readonly name = 'remote'
  readonly batches: (readonly Parts[])[] = []
  readonly refunds: Refund[] = []
  /** Called before a batch is answered: to delay the answer, or to fail. */
  before: () => Promise<void> | void = () => {}
  nowMs = START_MS
  isClosed = false
  /** From this charge on, a batch is decided a millisecond later, as by a second script. */
  splitsAt = Number.POSITIVE_INFINITY
  #batch: { readonly charges: Parts[]; readonly ready: Promise<void> } | undefined
  readonly #memory = memoryStore({ clock: () => this.nowMs })

  readonly apply = storeOf({
    charge: (charges) => this.charge(charges),
    refund: (refunds) => this.refund(refunds),
    forget: (keys) => this.forget(keys),
  }).apply

  /** Charges of one turn go together, as in a batcher. */
  async charge(charges: readonly Parts[]): Promise<readonly ChargeResult[]> {
    this.#batch ??= this.#begin()
    const { charges: batch, ready } = this.#batch
    const first = batch.length
    batch.push(...charges)
    await ready
    return charges.flatMap((charge, i) => {
      if (first + i === this.splitsAt) this.nowMs++
      return chargeStore(this.#memory, [charge])
    })
  }

  #begin() {
    const charges: Parts[] = []
    this.batches.push(charges)
    Promise.resolve().then(() => {
      this.#batch = undefined
    })
    return { charges, ready: (async () => this.before())() }
  }

  async refund(refunds: readonly Refund[]): Promise<void> {
    this.refunds.push(...refunds)
    refundStore(this.#memory, refunds)
  }

  async forget(keyed: readonly KeyedPolicy[]): Promise<void> {
    forgetStore(this.#memory, keyed)
  }

  async close(): Promise<void> {
    this.isClosed = true
  }

  remaining(policy: Policy, key = 'key'): number {
    return chargeStore(this.#memory, [[{ key, policy, cost: 0 }]])[0]?.parts[0]?.remaining ?? Number.NaN
  }
}

export const HOLD_MS = 100

/** Creates the leased store of one process, with the clock of `store`. */
export function leaseOn(store: RemoteStore, settings: Partial<LeaseSettings> = {}): Store {
  return leasedStore(store, {
    holdMs: HOLD_MS,
    processes: 1,
    onReturnFailed(error) {
      throw error
    },
    now: () => store.nowMs - START_MS,
    ...settings,
  })
}

/** Gives each test of a file fake timers, a remote store, and a leased store of one process on it. */
export function beforeEachLease(use: (remote: RemoteStore, store: Store) => void = () => {}): void {
  beforeEach(() => {
    jest.useFakeTimers()
    const remote = new RemoteStore()
    use(remote, leaseOn(remote))
  })
  afterEach(() => jest.useRealTimers())
}

/** Lets time pass by all clocks. Expired units are returned then. */
export async function pass(remote: RemoteStore, ms: number): Promise<void> {
  remote.nowMs += ms
  await jest.advanceTimersByTimeAsync(ms)
}

/** Charges a key several times at once. Returns all verdicts. */
export async function chargeTimes(
  store: Store,
  policy: Policy,
  times: number,
  cost = 1,
  key = 'key',
): Promise<ChargeResult[]> {
  const answers = Array.from({ length: times }, () => chargeStore(store, [[{ key, policy, cost }]]))
  return (await Promise.all(answers)).map(([verdict]) => verdict as ChargeResult)
}

/**
 * Charges 100 units in two bursts. The first one makes the key hot; the second one acquires a block, and
 * leaves some of it.
 */
export async function chargeHundred(store: Store, policy: Policy): Promise<ChargeResult[]> {
  return [...(await chargeTimes(store, policy, 60)), ...(await chargeTimes(store, policy, 40))]
}

export const allowedCount = (verdicts: readonly ChargeResult[]) =>
  verdicts.filter((verdict) => verdict.allowed).length
export const leasedCount = (verdicts: readonly ChargeResult[]) =>
  verdicts.filter(({ source }) => source === 'lease').length
