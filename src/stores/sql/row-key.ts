import { hashKey } from '../shared/hash-key.js'

/** What a column for keys holds: an index of InnoDB takes more, but keys at rest are shorter. */
export const MAX_KEY_BYTES = 255

/** The key of a row for a key at rest: the same, or, where it is too long or no Unicode text, its hash. */
export function rowKey(key: string): string {
  return key.isWellFormed() && Buffer.byteLength(key) <= MAX_KEY_BYTES ? key : hashKey(key)
}
