import type { State } from '../../../policies/policy.js'

/*
 * How numbers come from the server: as hexadecimal digits of their bytes, since how it writes a number as text depends on
 * `extra_float_digits`.
 */

/** Milliseconds since the Unix epoch when the transaction began, with microseconds behind the point. */
export const NOW = "(date_part('epoch', now()) * 1000)"
/** The same at this moment. */
export const CLOCK = "(date_part('epoch', clock_timestamp()) * 1000)"

/** A time, and the state in a column or expression, where there is one. */
export function sent(time: string, state?: string): string {
  const bytes = state === undefined ? '' : ` || coalesce(array_send(${state}), '')`
  return `encode(float8send(${time})${bytes}, 'hex')`
}

export interface Sent {
  readonly nowMs: number
  /** Whether something was sent for a state. */
  readonly isThere: boolean
  /** Nothing where there is none, and for one without numbers or with other things among them. */
  readonly state: State | undefined
}

const TIME_BYTES = 8
/** An array of one dimension: how many it has, and 16 bytes more; then each number, with its length before it. */
const ARRAY_HEAD_BYTES = 20
const NUMBER_BYTES = 4 + 8

/** Reads what `sent` gives. */
export function readSent(hexadecimal: string | null | undefined): Sent {
  const bytes = Buffer.from(hexadecimal ?? '', 'hex')
  const array = bytes.subarray(TIME_BYTES)
  return { nowMs: bytes.readDoubleBE(0), isThere: array.length > 0, state: stateIn(array) }
}

function stateIn(array: Buffer): State | undefined {
  const count = (array.length - ARRAY_HEAD_BYTES) / NUMBER_BYTES
  if (count < 1 || !Number.isInteger(count) || array.readInt32BE(0) !== 1) return undefined
  const state = Array.from({ length: count }, (_, i) => {
    return array.readDoubleBE(ARRAY_HEAD_BYTES + i * NUMBER_BYTES + 4)
  })
  return state.every(Number.isFinite) ? state : undefined
}
