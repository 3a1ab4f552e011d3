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

/** Returns a state as bytes: its numbers as little-endian doubles. */
export function encodeState(state: State): Buffer {
  const bytes = Buffer.allocUnsafe(8 * state.length)
  for (let i = 0; i < state.length; i++) bytes.writeDoubleLE(state[i] ?? 0, 8 * i)
  return bytes
}

/** Returns the state in some bytes; `undefined` if they are not a state. */
export function decodeState(bytes: unknown): State | undefined {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0 || bytes.length % 8 !== 0) return undefined
  const state: number[] = [] // Array.from would take several times as long
  for (let at = 0; at < bytes.length; at += 8) state.push(bytes.readDoubleLE(at))
  return state.every(Number.isFinite) ? state : undefined
}
