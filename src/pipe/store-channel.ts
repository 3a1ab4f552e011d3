import { channel } from '../platform.js'
import type { Operation } from '../stores/operation.js'
import type { StoreError } from '../stores/store-error.js'

/** The limiter that a message is about. */
interface LimiterMessage {
  /** The name of the limiter. */
  readonly limiter: string | undefined
  /** The same object in all messages of one limiter. It tells limiters of the same name apart. */
  readonly instance: object
  /** The name of the store, such as `'redis'`. */
  readonly store: string
}

/** One call of a remote store by a limiter, from the call until its outcome. */
export interface StoreCall extends LimiterMessage {
  readonly type: 'call'
  /** The type of the operation. A peek is a charge. */
  readonly operation: Operation['type']
  readonly durationMs: number
  /** Why the call failed: the store's error, or the time-out. Absent if it succeeded. */
  readonly error?: StoreError
}

/** The store replied to a call after its deadline, which a message of the type `'call'` reported as failed. */
export interface StoreLateReply extends LimiterMessage {
  readonly type: 'late'
  readonly operation: Operation['type']
  /** From the call until the reply. */
  readonly durationMs: number
}

/** One batch of operations that a store applied. */
export interface StoreBatch {
  readonly type: 'batch'
  readonly store: string
  /** How many operations the batch had, such as the charges of concurrent requests. */
  readonly size: number
  readonly durationMs: number
}

/** A circuit breaker of a limiter changed its state. */
export interface StoreStateChange extends LimiterMessage {
  readonly type: 'state'
  readonly state: 'closed' | 'open' | 'half-open'
  /** The last error of the store, unless the circuit breaker is closed. */
  readonly cause: StoreError | undefined
  /** The server, if the store has several. `'closed'` also means that the server is no longer called. */
  readonly server?: string
}

/** A limiter was closed, and its circuit breaker is gone. */
export interface StoreClose extends LimiterMessage {
  readonly type: 'close'
}

/** A message on the channel `headgate:store`. The memory store publishes nothing. */
export type StoreMessage = StoreCall | StoreLateReply | StoreBatch | StoreStateChange | StoreClose

/** The channel for what the pipes to remote stores do. Check `hasSubscribers` before a message is built. */
export const storeChannel = channel('headgate:store')

/** Publishes a message, whose fields stay the same within a major version. */
export function publishToStoreChannel(message: StoreMessage): void {
  storeChannel.publish(message)
}
