import type { State } from '../../policies/policy.js'

/** A state as bytes: its numbers as doubles, each with its least significant byte first. */
export function bytesOf(state: State): Buffer {
  const bytes = Buffer.allocUnsafe(8 * state.length)
  state.forEach((value, i) => {
    bytes.writeDoubleLE(value, 8 * i)
  })
  return bytes
}

/** The state in bytes; nothing for what is none. */
export function stateIn(bytes: unknown): State | undefined {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0 || bytes.length % 8 !== 0) return undefined
  const state = Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i))
  return state.every(Number.isFinite) ? state : undefined
}
