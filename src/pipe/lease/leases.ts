import type { ChargeResult, Operation, Outcome } from '../../stores/operation.js'
import type { Store } from '../../stores/store.js'
import { processWide } from '../../util/process-wide.js'
import type { PendingOperation } from '../batcher.js'

/** How long a process repeats a store's denial, in milliseconds since the denied charge was sent. */
export interface DenialTimes {
  /** The longest time, for a store that may get units back before `retryAfterMs` ends. */
  readonly maxMs: number
  /** The shortest time, even if `retryAfterMs` ends earlier. */
  readonly minMs: number
}

/** What a pipe to a leased store has beside that of a plain store. */
export interface Leases {
  /** Allows a charge by units that this process holds, even while the circuit breaker is open. */
  consume(operation: Operation): ChargeResult | undefined
  /** Takes units of hot keys in blocks, and sends all else to the inner store, as the end of a pipe does. */
  send(item: PendingOperation): Outcome | undefined
  readonly denialTimes: DenialTimes
}

/** By `apply`, so that a copy of the store with another `apply` is called through it. */
const leasesByApply = processWide('leases', () => new WeakMap<Store['apply'], Leases>())

/** Records what the pipes to a leased store have. */
export function setLeases({ apply }: Store, leases: Leases): void {
  leasesByApply.set(apply, leases)
}

/** Returns what the pipes to a leased store have; `undefined` for any other store. */
export function leasesOf({ apply }: Store): Leases | undefined {
  return leasesByApply.get(apply)
}
