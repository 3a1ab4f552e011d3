import type { Charge, ChargeResult, Outcome, Part, Refund } from '../../stores/operation.js'
import type { PendingOperation } from '../batcher.js'
import { type Pipe, request } from '../pipe.js'
import type { StoreEnd } from '../store-end.js'
import { blockSize, type LeasedKey, type PrepaidBlock, prepaidBlock } from './block.js'
import type { Demand } from './demand.js'

/** What all leases of a store share. */
export interface LeaseContext {
  /** The end of the pipes to the inner store. */
  readonly innerEnd: StoreEnd
  /** The pipe to the inner store, for blocks. */
  readonly innerPipe: Pipe
  readonly processes: number
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
 *     held -> idle              the block expired, and its unused units were returned
 *     any -> idle               the key was forgotten
 */
type LeaseState =
  /** Nothing is held. After a denial, no block is requested before `acquireFromMs`. */
  | { readonly kind: 'idle'; readonly acquireFromMs: number }
  /** `waiting` are charges, in order. `done` resolves when they have gone on, and never rejects. */
  | {
      readonly kind: 'acquiring'
      readonly sinceMs: number
      readonly waiting: (readonly [Part, PendingOperation])[]
      readonly done: Promise<void>
    }
  | { readonly kind: 'held'; readonly block: PrepaidBlock }

const IDLE: LeaseState = { kind: 'idle', acquireFromMs: Number.NEGATIVE_INFINITY }

/** The lease of one key. */
export type KeyLease = ReturnType<typeof keyLease>

/** Creates the lease of a key. `demand` tracks its charges. */
export function keyLease(context: LeaseContext, leased: LeasedKey, demand: Demand) {
  const { innerEnd, innerPipe, processes, now, returnUnits } = context
  const { key, policy, holdMs } = leased
  const maxUnits = blockSize(policy, processes)
  let state: LeaseState = IDLE

  function consumeHeld(cost: number, nowMs: number): ChargeResult | undefined {
    return state.kind === 'held' ? state.block.consume(cost, nowMs) : undefined
  }

  /** Admits a charge of `cost`, if that many units are held. */
  function consume(cost: number): ChargeResult | undefined {
    const nowMs = now()
    const verdict = consumeHeld(cost, nowMs)
    if (verdict !== undefined) demand.add(cost, nowMs)
    return verdict
  }

  /**
   * Decides a charge of one part, as the end of a pipe does. If too few units are held, sends the charge to
   * the store, along with a request for a block. Later charges wait for that block; those larger than the
   * block go to the store.
   */
  function charge(part: Part, item: PendingOperation): Outcome | undefined {
    if (part.cost > maxUnits) return innerEnd.send(item)
    const nowMs = now()
    demand.add(part.cost, nowMs)
    const verdict = consumeHeld(part.cost, nowMs)
    if (verdict !== undefined) return verdict
    const isOverdue = state.kind === 'acquiring' && nowMs - state.sinceMs > holdMs
    if (isOverdue || (state.kind === 'idle' && nowMs < state.acquireFromMs)) return innerEnd.send(item)
    if (state.kind === 'acquiring') {
      state.waiting.push([part, item])
      return undefined
    }
    returnBlock(nowMs)
    const outcome = innerEnd.send(item)
    acquire(nowMs)
    return outcome
  }

  function acquire(nowMs: number): void {
    const waiting: (readonly [Part, PendingOperation])[] = []
    const done = requestBlock(nowMs).then((next) => {
      if (state === acquiring) state = next // otherwise the key was forgotten meanwhile
      for (const [{ cost }, item] of waiting) {
        const outcome = consumeHeld(cost, now()) ?? innerEnd.send(item)
        if (outcome !== undefined) item.settle(outcome)
      }
    })
    const acquiring: LeaseState = { kind: 'acquiring', sinceMs: nowMs, waiting, done }
    state = acquiring
  }

  async function requestBlock(sinceMs: number): Promise<LeaseState> {
    const units = blockSize(policy, processes, demand.unitsAt(sinceMs))
    try {
      const block: Charge = { type: 'charge', parts: [{ key, policy, cost: units }] }
      const verdict = await request(innerPipe, block)
      if (verdict.allowed) return { kind: 'held', block: prepaidBlock(leased, units, sinceMs, verdict) }
      const { retryAfterMs = holdMs } = verdict.parts[0] ?? {}
      return { kind: 'idle', acquireFromMs: sinceMs + Math.min(retryAfterMs, holdMs) }
    } catch {
      return IDLE // waiting charges go to the store, and reject with its error
    }
  }

  function returnBlock(nowMs: number): void {
    if (state.kind !== 'held') return
    const refund = state.block.refundAt(nowMs)
    state = IDLE
    if (refund !== undefined) returnUnits(refund)
  }

  return {
    policy,
    consume,
    charge,
    /** Returns the unused units of an expired block to the store. */
    expire(nowMs: number): void {
      if (state.kind === 'held' && state.block.usableAt(nowMs) === 0) returnBlock(nowMs)
    },
    /** Whether nothing is held, and the key is no longer hot. */
    isUnused(nowMs: number): boolean {
      return state.kind === 'idle' && !demand.isHotAt(nowMs)
    },
    /** Drops the units that are held or requested, since the store no longer counts them. */
    forget(): void {
      state = IDLE
    },
    /** Returns the units held or requested to the store, once waiting charges have consumed theirs. */
    async close(): Promise<void> {
      if (state.kind === 'acquiring') await state.done
      returnBlock(now())
    },
  }
}
