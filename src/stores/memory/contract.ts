import type { Policy } from '../../policies/policy.js'
import type { KeyedPolicy, Operation, Outcome, Part, PartVerdict, Verdict } from '../operation.js'
import type { Store } from '../store.js'

/** A store in this process: synchronous, exact, bounded. */
export interface MemoryStore extends Store {
  readonly name: 'memory'
  apply(operations: readonly Operation[]): readonly Outcome[]
  /** How many keys are stored. */
  readonly size: number
}

/** A limiter's key in pieces: a beginning, shared by all keys of a limit, an identity, and `KEY_END`. */
export interface KeyPieces {
  readonly beginning: string
  readonly identity: string
}

/** The end of every limiter's key. */
export const KEY_END = '}'

/** What a limiter calls in place of `apply`, which takes whole keys. */
export interface MemoryInternals {
  limitOf(policy: Policy, beginning: string): MemoryLimit
  /** Decides a charge whose keys may come in pieces. */
  charge(parts: readonly (Part & Partial<KeyPieces>)[]): Verdict
  /** Returns a new store with the same options, and so the same clock and bound. */
  makeSibling(): MemoryStore
  /** Forgets a key that may come in pieces. */
  forget(key: KeyedPolicy & Partial<KeyPieces>): void
}

/** One policy for keys that differ only in the identity in their middle. */
export interface MemoryLimit {
  /** Returns the store's time. */
  now(): number
  /** Decides a charge of one key as a charge does, without joining the key. */
  take(identity: string, nowMs: number, cost: number): PartVerdict
}

/** Marks memory stores, including those of another copy of this package. */
const MEMORY_STORE = Symbol.for('headgate.memoryStore')

interface Marked {
  readonly [MEMORY_STORE]?: { readonly store: Store; readonly internals: MemoryInternals }
}

/** Marks a store as a memory store, and returns it. */
export function markMemoryStore(store: MemoryStore, internals: MemoryInternals): MemoryStore {
  return Object.defineProperty(store, MEMORY_STORE, { value: { store, internals } })
}

/**
 * Returns whether this is a memory store: synchronous, and unable to fail, so that it needs no protection.
 * An object that inherits from one or wraps one is not.
 */
export function isMemoryStore(store: Store): store is MemoryStore {
  return (store as Marked)[MEMORY_STORE]?.store === store
}

/** Returns the internals of a memory store; `undefined` for another store, also for one that wraps it. */
export function memoryInternalsOf(store: Store): MemoryInternals | undefined {
  return isMemoryStore(store) ? (store as Marked)[MEMORY_STORE]?.internals : undefined
}
