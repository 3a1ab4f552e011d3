import type { State } from '../../policies/policy.js'

/** The bytes of a number. All numbers in Redis are little-endian doubles. */
export const NUMBER_BYTES = 8

/**
 * Returns the state in the bytes of a key: when the key expires (ms, `Infinity` for never), then the numbers of
 * the state. Returns `undefined` for a fresh state, and for bytes that are not a state.
 */
export function stateIn(bytes: Uint8Array): State | undefined {
  if (bytes.length < 2 * NUMBER_BYTES || bytes.length % NUMBER_BYTES !== 0) return undefined
  return stateAt(
    new DataView(bytes.buffer, bytes.byteOffset, bytes.length),
    0,
    bytes.length / NUMBER_BYTES - 1,
  )
}

/** Returns the state of `width` numbers that is stored at an offset; `undefined` if it is fresh. */
export function stateAt(numbers: DataView, offset: number, width: number): State | undefined {
  if (numbers.getFloat64(offset, true) === 0) return undefined
  const state = new Array<number>(width) // a growing array takes several times the memory
  for (let i = 0; i < width; i++) state[i] = numbers.getFloat64(offset + NUMBER_BYTES * (i + 1), true)
  return state
}
