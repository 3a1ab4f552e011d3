/**
 * Builders for your own store, and the contract that a store fulfills.
 *
 * @module
 */

export { customStore } from './pipe/custom-store.js'
export type { CommonStoreOptions } from './stores/builders/built-store.js'
export { type CompareAndSwapOptions, compareAndSwapStore } from './stores/builders/compare-and-swap-store.js'
export type { LockedStates, TransactionWrite } from './stores/builders/decide-batch.js'
export type { OperationsMessage, OutcomesMessage } from './stores/builders/operation-codec.js'
export type { OptimisticTransaction } from './stores/builders/optimistic-attempt.js'
export { type OptimisticOptions, optimisticStore } from './stores/builders/optimistic-store.js'
export { type OwnerStoreOptions, ownerStore } from './stores/builders/owner-store.js'
export { serveOperations } from './stores/builders/serve-operations.js'
export type { ReadStored, StoredState } from './stores/builders/stored-state.js'
export type { Swap } from './stores/builders/swap-loop.js'
export type { TransactionOptions } from './stores/builders/transaction-options.js'
export { transactionStore } from './stores/builders/transaction-store.js'
export type * from './stores/contract.js'
export { keysOf } from './stores/operation.js'
export type { ReadState } from './stores/shared/apply-batch.js'
export { applyOperations } from './stores/shared/apply-operations.js'
export type { StateWrite } from './stores/shared/state-write.js'
export { StoreError } from './stores/store-error.js'
export type { MaybePromise } from './util/maybe-promise.js'
