import type { State } from '../../policies/policy.js'

/** Returns a state as bytes: its numbers as little-endian doubles. */
export function encodeState(state: State): Buffer {
  const bytes = Buffer.allocUnsafe(8 * state.length)
  for (let i = 0; i < state.length; i++) bytes.writeDoubleLE(state[i] as number, 8 * i)
  return bytes
}

/** Returns the state in some bytes; `undefined` where they are not a state. */
export function decodeState(bytes: unknown): State | undefined {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0 || bytes.length % 8 !== 0) return undefined
  const state = Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i))
  return state.every(Number.isFinite) ? state : undefined
}
