import type { Policy, State } from '../../policies/policy.js'
import { StoreError } from '../store-error.js'

/** Returns whether a value is a state of a policy, as far as can be told. */
export function isStateOf({ width }: Policy, value: unknown): value is State {
  return Array.isArray(value) && value.length === width && value.every(Number.isFinite)
}

/** Returns the error for a key that headgate did not write, or not for this policy. */
export function foreignKeyError(store: string, key: string, cause?: unknown): StoreError {
  const message = `the key ${key} holds something other than a state of its policy. Give the limiter another prefix.`
  return new StoreError(store, message, { answered: true, ...(cause !== undefined && { cause }) })
}
