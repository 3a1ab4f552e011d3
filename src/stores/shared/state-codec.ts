import type { Policy, State } from '../../policies/policy.js'
import { StoreError } from '../store-error.js'

/** Returns whether a value is a state of a policy, as far as can be told. */
export function isStateOf(policy: Policy, value: unknown): value is State {
  if (!Array.isArray(value) || value.length === 0 || !value.every(Number.isFinite)) return false
  return policy.width === undefined || value.length === policy.width
}

/** Returns the error for a key that headgate did not write, or not for this policy. */
export function foreignKeyError(store: string, key: string, cause?: unknown): StoreError {
  const message = `the key ${key} holds a value that is not a state of its policy. Give the limiter another prefix.`
  return new StoreError(store, message, { replied: true, ...(cause !== undefined && { cause }) })
}
