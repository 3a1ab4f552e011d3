import type { State } from '../../policies/policy.js'
import { unreadable } from '../sql/unreadable.js'

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
  /** Nothing where there is none. */
  readonly state: State | undefined
}

const TIME_BYTES = 8
/** An array of one dimension: how many it has, and 16 bytes more; then each number, with its length before it. */
const ARRAY_HEAD_BYTES = 20
const NUMBER_BYTES = 4 + 8

/** Reads what `sent` gives. Throws for a state that is none: without numbers, or with other things among them. */
export function readSent(hexadecimal: string | null | undefined): Sent {
  const bytes = Buffer.from(hexadecimal ?? '', 'hex')
  const nowMs = bytes.readDoubleBE(0)
  if (bytes.length === TIME_BYTES) return { nowMs, state: undefined }
  const first = TIME_BYTES + ARRAY_HEAD_BYTES
  const count = (bytes.length - first) / NUMBER_BYTES
  if (!Number.isInteger(count) || bytes.readInt32BE(TIME_BYTES) !== 1) throw unreadable()
  const state = Array.from({ length: count }, (_, i) => bytes.readDoubleBE(first + i * NUMBER_BYTES + 4))
  if (!state.every(Number.isFinite)) throw unreadable()
  return { nowMs, state }
}
