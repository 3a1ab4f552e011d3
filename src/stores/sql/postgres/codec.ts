import type { State } from '../../../policies/policy.js'
import type { Row } from '../changes.js'

/** The present, in ms since the Unix epoch, to the microsecond. */
export const CLOCK = "(date_part('epoch', clock_timestamp()) * 1000)"

/**
 * Returns SQL that encodes a time, and perhaps a state, as the hexadecimal digits of their bytes: as text,
 * numbers would depend on `extra_float_digits`.
 */
export function encodeAsHex(time: string, state?: string): string {
  const bytes = state === undefined ? '' : ` || coalesce(array_send(${state}), '')`
  return `encode(float8send(${time})${bytes}, 'hex')`
}

export interface Decoded {
  readonly nowMs: number
  readonly exists: boolean
  /** `undefined` for a row that does not exist, and for a corrupt one. */
  readonly state: State | undefined
}

const TIME_BYTES = 8
/** An array's header begins with its number of dimensions. Each element follows its length (4 bytes). */
const HEADER_BYTES = 20
const NUMBER_BYTES = 4 + 8

/** Holds the bytes of one reply at a time. */
let bytes = Buffer.alloc(1024)

/** Decodes what the SQL of `encodeAsHex` returns. */
export function decode(hexadecimal: string | null | undefined): Decoded {
  const text = hexadecimal ?? ''
  const end = text.length / 2
  if (bytes.length < end) bytes = Buffer.alloc(2 * end)
  bytes.write(text, 'hex')
  return { nowMs: bytes.readDoubleBE(0), exists: end > TIME_BYTES, state: stateIn(TIME_BYTES, end) }
}

function stateIn(start: number, end: number): State | undefined {
  const length = (end - start - HEADER_BYTES) / NUMBER_BYTES
  if (length < 1 || !Number.isInteger(length) || bytes.readInt32BE(start) !== 1) return undefined
  const state: number[] = []
  for (let at = start + HEADER_BYTES + 4; at < end; at += NUMBER_BYTES) state.push(bytes.readDoubleBE(at))
  return state.every(Number.isFinite) ? state : undefined
}

/** Returns the bytes of a row's key as hexadecimal digits, which sort as the bytes do. */
export function hexOf(key: string): string {
  return Buffer.from(key).toString('hex')
}

/** Returns the parameter of a statement for a key, given as hexadecimal digits. */
export function keyParameter(hexadecimal: string): string {
  return `\\x${hexadecimal}`
}

/** Returns the parameter for an array of keys. */
export function keyList(hexadecimals: readonly string[]): string {
  return `{${hexadecimals.map((each) => `"\\\\x${each}"`)}}`
}

/** Returns keys as an array literal, which the server parses faster than a list of values. */
export function keyArray(keys: readonly string[]): string {
  const elements = keys.map((key) => `"\\\\\\\\x${hexOf(key)}"`)
  return `E'{${elements}}'::bytea[]`
}

/** Returns rows as the table `r`. States are text, since nested arrays must have equal lengths. */
export function rowTable(rows: readonly Row[]): string {
  const keys = keyArray(rows.map(({ key }) => key))
  const states = `'{${rows.map(({ state }) => `"{${state}}"`)}}'::text[]`
  const expiries = `'{${rows.map(({ expiresAtS }) => expiresAtS)}}'::bigint[]`
  return `unnest(${keys}, ${states}, ${expiries}) AS r (key, state, expires_at)`
}
