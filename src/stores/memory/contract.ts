import type { Policy } from '../../policies/policy.js'
import type { Charge, KeyedPolicy, PartVerdict, Refund, Store, Verdict } from '../store.js'

/** A store in this process: synchronous, exact, bounded. */
export interface MemoryStore extends Store {
  readonly name: 'memory'
  charge(charges: readonly Charge[]): readonly Verdict[]
  refund(refunds: readonly Refund[]): void
  forget(keys: readonly KeyedPolicy[]): void
  /** How many keys are stored. */
  readonly size: number
}

/** The pieces of a key: `beginning`, which the keys of a limit share, an identity, and `KEY_END`. */
export interface KeyPieces {
  readonly beginning: string
  readonly identity: string
}

/** How keys that come in pieces end. */
export const KEY_END = '}'

/** One policy for keys that differ only in the identity in their middle. */
export interface MemoryLimit {
  /** Returns the store's time. */
  now(): number
  /** Decides a charge of one key as the store's `charge` does, without joining the key. */
  take(identity: string, nowMs: number, cost: number): PartVerdict
}

/** Returns the limit of a policy whose keys have this beginning. */
export type LimitOf = (policy: Policy, beginning: string) => MemoryLimit

/** Marks memory stores, including those of another copy of this package. */
const MEMORY_STORE = Symbol.for('headgate.memoryStore')

interface Marked {
  readonly [MEMORY_STORE]?: { readonly store: Store; readonly limitOf: LimitOf }
}

/** Marks a store as a memory store, and returns it. */
export function markMemoryStore(store: MemoryStore, limitOf: LimitOf): MemoryStore {
  return Object.defineProperty(store, MEMORY_STORE, { value: { store, limitOf } })
}

/**
 * Returns whether this is a memory store: synchronous, and unable to fail, so that it needs no protection.
 * An object that inherits from one or wraps one is not.
 */
export function isMemoryStore(store: Store): store is MemoryStore {
  return (store as Marked)[MEMORY_STORE]?.store === store
}

/** Returns the function that makes a memory store's limits; `undefined` for another store. */
export function memoryLimitsOf(store: Store): LimitOf | undefined {
  return isMemoryStore(store) ? (store as Marked)[MEMORY_STORE]?.limitOf : undefined
}
