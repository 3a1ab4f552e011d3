/**
 * The store for Cloudflare Durable Objects.
 *
 * @module
 */

export {
  banKind,
  concurrencyKind,
  consecutiveKind,
  fixedWindowKind,
  type PolicyKind,
  quotaKind,
  slidingLogKind,
  slidingWindowKind,
  tokenBucketKind,
} from './policies/policy-kinds.js'
export {
  type DurableObjectsStoreOptions,
  durableObjectsStore,
} from './stores/durable-objects/durable-objects-store.js'
export { LimitsObject } from './stores/durable-objects/limits-object.js'
export { limitsObject } from './stores/durable-objects/limits-object-of-kinds.js'
export type {
  ObjectContext,
  ObjectNamespace,
  ObjectRequest,
  ObjectStorage,
} from './stores/durable-objects/platform.js'
export type { ServingObject } from './stores/durable-objects/serving-object.js'
