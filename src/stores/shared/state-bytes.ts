import type { State } from '../../policies/policy.js'

/** Returns a state as bytes: its numbers as little-endian doubles. */
export function encodeState(state: State): Buffer {
  const bytes = Buffer.allocUnsafe(8 * state.length)
  for (let i = 0; i < state.length; i++) bytes.writeDoubleLE(state[i] ?? 0, 8 * i)
  return bytes
}

/** Returns the state in some bytes, or `undefined` if they are not a state. */
export function decodeState(bytes: unknown): State | undefined {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0 || bytes.length % 8 !== 0) return undefined
  const state: number[] = [] // Array.from would take several times as long
  for (let at = 0; at < bytes.length; at += 8) state.push(bytes.readDoubleLE(at))
  return state.every(Number.isFinite) ? state : undefined
}
