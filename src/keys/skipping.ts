import { processWide } from '../util/process-wide.js'
import type { KeyFunction } from './key-types.js'

const skipping = processWide('skippingKeys', () => new WeakSet<KeyFunction<never>>())

/** Marks a key function that returns `undefined` if its limit does not apply to a subject; returns it. */
export function markSkipping<K extends KeyFunction<never>>(key: K): K {
  skipping.add(key)
  return key
}

/** Returns whether `undefined` from a key function means that its limit does not apply. */
export function skips(key: KeyFunction<never>): boolean {
  return skipping.has(key)
}

const clientChosen = processWide('clientChosenKeys', () => new WeakSet<KeyFunction<never>>())

/**
 * Marks a key function that returns `null` for what a client left out or made invalid: no client may cause an
 * error. Returns it.
 */
export function markClientChosen<K extends KeyFunction<never>>(key: K): K {
  clientChosen.add(key)
  return key
}

/** Returns whether `null` or `undefined` from a key function is a mistake in it, or that of its caller. */
export function isMissing(key: KeyFunction<never>, value: unknown): value is null | undefined {
  return value === undefined || (value === null && !clientChosen.has(key))
}
