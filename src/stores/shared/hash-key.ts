import { sha256 } from '../../platform.js'

/** Returns a short printable key in place of one that a server rejects. UTF-16 keeps lone surrogates. */
export function hashKey(key: string): string {
  const units = Uint16Array.from({ length: key.length }, (_, i) => key.charCodeAt(i))
  return `hg:${sha256(new Uint8Array(units.buffer))}`
}

const PLAIN_KEY = /^[ -~]{1,300}$/

/**
 * Returns a key of 1 to 300 bytes, for stores that limit or bill the size of keys: the same key, or its hash
 * if it is longer, empty or not plain ASCII.
 */
export function plainKey(key: string): string {
  return PLAIN_KEY.test(key) ? key : hashKey(key)
}
