import type { Charge, Part, PartVerdict, Refund, Store, Verdict } from '../../stores/store.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { validateVerdict } from '../validate-verdict.js'
import { type Block, type LeasedKey, prepaidBlock } from './block.js'
import type { Demand } from './demand.js'

/** What all leases of a store share. */
export interface LeaseContext {
  readonly store: Store
  /** This process's clock, in milliseconds. */
  readonly now: () => number
  /** Refunds unused units in the background. */
  readonly returnUnits: (refund: Refund) => void
}

/**
 * A lease has at most one block, and at most one request for the next:
 *
 *     idle, held -> acquiring   a charge finds too few units, and requests a block
 *     acquiring -> held         the store allowed the block
 *     acquiring -> idle         the store denied the block, or failed
 *     held -> idle              the block expired, and the rest of it was returned
 *     any -> idle               the key was forgotten
 */
type LeaseState =
  /** Nothing is held. After a denial no block is requested before `acquireFromMs`. */
  | { readonly kind: 'idle'; readonly acquireFromMs: number }
  /** `done` resolves when the state has changed, and never rejects. */
  | { readonly kind: 'acquiring'; readonly sinceMs: number; readonly done: Promise<void> }
  | { readonly kind: 'held'; readonly block: Block }

const IDLE: LeaseState = { kind: 'idle', acquireFromMs: Number.NEGATIVE_INFINITY }

/** The lease of one key. */
export class KeyLease {
  readonly #context: LeaseContext
  readonly #key: LeasedKey
  readonly #demand: Demand
  #state: LeaseState = IDLE

  constructor(context: LeaseContext, key: LeasedKey, demand: Demand) {
    this.#context = context
    this.#key = key
    this.#demand = demand
  }

  /** Admits a charge of `cost`, if as many units are held. */
  consume(cost: number): Verdict | undefined {
    const nowMs = this.#context.now()
    const verdict = this.#consume(cost, nowMs)
    if (verdict !== undefined) this.#demand.add(cost, nowMs)
    return verdict
  }

  /**
   * Decides a charge of one part. Where too few units are held, the charge goes to the store together with
   * a request for a block. Later charges wait for that block; those that it is too small for go to the store.
   */
  charge(part: Part): MaybePromise<readonly Verdict[]> {
    const { store, now } = this.#context
    const { holdMs, maxBlock } = this.#key
    if (part.cost > maxBlock) return store.charge([[part]])
    const nowMs = now()
    this.#demand.add(part.cost, nowMs)
    const verdict = this.#consume(part.cost, nowMs)
    if (verdict !== undefined) return [verdict]
    const state = this.#state
    if (state.kind === 'acquiring') {
      const isStuck = nowMs - state.sinceMs > holdMs
      return isStuck ? store.charge([[part]]) : this.#chargeAfter(state.done, part)
    }
    if (state.kind === 'idle' && nowMs < state.acquireFromMs) return store.charge([[part]])
    this.#returnBlock(nowMs)
    const answer = store.charge([[part]])
    this.#acquire(nowMs)
    return answer
  }

  /** Returns to the store what is left of an expired block. */
  expire(nowMs: number): void {
    if (this.#state.kind === 'held' && this.#state.block.usableAt(nowMs) === 0) this.#returnBlock(nowMs)
  }

  /** Whether nothing is held, and the key is no longer hot. */
  isUnused(nowMs: number): boolean {
    return this.#state.kind === 'idle' && !this.#demand.isHotAt(nowMs)
  }

  /** Drops the units that are held or on their way: the store no longer counts them. */
  forget(): void {
    this.#state = IDLE
  }

  /**
   * Returns to the store the units that are held or on their way, once waiting charges have consumed theirs.
   */
  async close(): Promise<void> {
    if (this.#state.kind === 'acquiring') await this.#state.done
    this.#returnBlock(this.#context.now())
  }

  #consume(cost: number, nowMs: number): Verdict | undefined {
    return this.#state.kind === 'held' ? this.#state.block.consume(cost, nowMs) : undefined
  }

  async #chargeAfter(acquired: Promise<void>, part: Part): Promise<readonly Verdict[]> {
    await acquired
    const verdict = this.#consume(part.cost, this.#context.now())
    return verdict === undefined ? this.#context.store.charge([[part]]) : [verdict]
  }

  #acquire(nowMs: number): void {
    const done = this.#requestBlock(nowMs).then((next) => {
      if (this.#state === acquiring) this.#state = next // else the key was forgotten meanwhile
    })
    const acquiring: LeaseState = { kind: 'acquiring', sinceMs: nowMs, done }
    this.#state = acquiring
  }

  async #requestBlock(sinceMs: number): Promise<LeaseState> {
    const { store } = this.#context
    const { key, policy, holdMs, maxBlock } = this.#key
    const units = Math.min(maxBlock, this.#demand.unitsAt(sinceMs))
    const charge: Charge = [{ key, policy, cost: units }]
    try {
      const verdict = validateVerdict(store, charge, await store.charge([charge]))
      if (verdict.allowed) return { kind: 'held', block: prepaidBlock(this.#key, units, sinceMs, verdict) }
      const { retryAfterMs } = verdict.parts[0] as PartVerdict
      return { kind: 'idle', acquireFromMs: sinceMs + Math.min(retryAfterMs, holdMs) }
    } catch {
      return IDLE // waiting charges go to the store, and reject with its error
    }
  }

  #returnBlock(nowMs: number): void {
    if (this.#state.kind !== 'held') return
    const refund = this.#state.block.refundAt(nowMs)
    this.#state = IDLE
    if (refund !== undefined) this.#context.returnUnits(refund)
  }
}
