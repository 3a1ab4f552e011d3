import type { State } from '../../policies/policy.js'
import { decodeState } from '../shared/state-bytes.js'

/** The end of an item that never expires. */
const NEVER_S = 0xffffffff

/** A state, and when its item expires, in ms since the Unix epoch. */
interface StateItem {
  readonly state: State
  readonly expiresAtMs: number
}

/**
 * Returns the end of an item's value: when it expires, in whole seconds since the Unix epoch, because memcached
 * does not say.
 */
export function endOf(expiresAtMs: number): number {
  return Math.min(NEVER_S, Math.ceil(expiresAtMs / 1000))
}

/** Returns what is in a value: a state as doubles, and its end. Returns `undefined` for any other value. */
export function stateItemIn(value: Buffer): StateItem | undefined {
  const length = value.length - 4
  const state = length > 0 ? decodeState(value.subarray(0, length)) : undefined
  if (state === undefined) return undefined
  const end = value.readUInt32BE(length)
  return { state, expiresAtMs: end === NEVER_S ? Number.POSITIVE_INFINITY : 1000 * end }
}
