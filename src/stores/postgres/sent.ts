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

const NUMBER_BYTES = 8
/** What stands before an array's first number, and before each. */
const ARRAY_HEAD_BYTES = 20
const NUMBER_HEAD_BYTES = 4

/** Reads what `sent` gives. Throws for a state that is none: without numbers, or with a NULL among them. */
export function readSent(hexadecimal: string | null | undefined): Sent {
  const bytes = Buffer.from(hexadecimal ?? '', 'hex')
  const nowMs = bytes.readDoubleBE(0)
  if (bytes.length === NUMBER_BYTES) return { nowMs, state: undefined }
  const step = NUMBER_HEAD_BYTES + NUMBER_BYTES
  const state: number[] = []
  const first = NUMBER_BYTES + ARRAY_HEAD_BYTES + NUMBER_HEAD_BYTES
  for (let at = first; at < bytes.length; at += step) state.push(bytes.readDoubleBE(at))
  if (state.length === 0 || bytes.length !== first - NUMBER_HEAD_BYTES + step * state.length)
    throw unreadable()
  return { nowMs, state }
}
