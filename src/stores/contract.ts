export type { Policy, State, Step } from '../policies/policy.js'
export type { DocumentRequest, Documents, StoredDocument } from './documents.js'
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
} from './operation.js'
export type {
  Batching,
  Store,
  StoreOrigin,
} from './store.js'
