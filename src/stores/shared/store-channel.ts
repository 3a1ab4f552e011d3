import { channel } from 'node:diagnostics_channel'
import type { StoreError } from '../store-error.js'

/** What a limiter calls a store for. A peek is a charge. */
export type StoreOperation = 'charge' | 'refund' | 'renew' | 'forget' | 'update'

/** One call of a remote store by a limiter, from the call until its outcome. */
export interface StoreCall {
  readonly type: 'call'
  /** The name of the limiter. */
  readonly limiter: string | undefined
  /** The name of the store, such as `'redis'`. */
  readonly store: string
  readonly operation: StoreOperation
  readonly durationMs: number
  /** Why it failed: the store's error, or its time-out. */
  readonly error?: StoreError
}

/** One batch that a store sent to its server. */
export interface StoreBatch {
  readonly type: 'batch'
  readonly store: string
  /** How many operations went together, such as the charges of concurrent requests. */
  readonly size: number
  readonly durationMs: number
}

/** The circuit breaker of a limiter changed its state. */
export interface StoreStateChange {
  readonly type: 'state'
  readonly limiter: string | undefined
  readonly store: string
  readonly state: 'closed' | 'open' | 'half-open'
  /** The last error of the store, unless the circuit breaker is closed. */
  readonly cause: StoreError | undefined
}

/** What is published to the channel `headgate:store`. Memory publishes nothing: it is part of the limiter. */
export type StoreMessage = StoreCall | StoreBatch | StoreStateChange

/** Where remote stores publish what they do. Check `hasSubscribers` before a message is built. */
export const storeChannel = channel('headgate:store')

/** Publishes a message, whose fields stay the same within a major version. */
export function publishToStoreChannel(message: StoreMessage): void {
  storeChannel.publish(message)
}
