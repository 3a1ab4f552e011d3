export type { Policy, State, Step } from './policies/policy.js'
export type { Prepaid } from './policies/prepaid.js'
export type { CommonStoreOptions } from './stores/builders/built-store.js'
export { type CompareAndSwapOptions, compareAndSwapStore } from './stores/builders/compare-and-swap-store.js'
export type { OperationsMessage, OutcomesMessage } from './stores/builders/operation-codec.js'
export { type OwnerStoreOptions, ownerStore } from './stores/builders/owner-store.js'
export { serveOperations } from './stores/builders/serve-operations.js'
export type { StoredState, Swap } from './stores/builders/swap-loop.js'
export { type TransactionOptions, transactionStore } from './stores/builders/transaction-store.js'
export type { LockedStates, TransactionWrite } from './stores/builders/transaction-writes.js'
export type {
  Block,
  BlockResult,
  Charge,
  ChargeResult,
  Forget,
  ForgetResult,
  KeyedPolicy,
  Operation,
  Outcome,
  Part,
  PartResult,
  Refund,
  RefundResult,
  Renew,
  RenewResult,
  Result,
  ResultOf,
  Reward,
  RewardResult,
  Standing,
  Take,
  TakeResult,
} from './stores/operation.js'
export { keysOf } from './stores/operation.js'
export { applyOperations, type ReadState, type StateWrite } from './stores/shared/apply-operations.js'
export type {
  Batching,
  DenialTimes,
  LocalLimit,
  LocalStates,
  ProcessNotes,
  Store,
  StoreOrigin,
} from './stores/store.js'
export { StoreError } from './stores/store-error.js'
export type { MaybePromise } from './util/maybe-promise.js'
