import { processWide } from '../util/process-wide.js'
import type { KeyFunction } from './key.js'

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
