import { createHash } from 'node:crypto'

/** memcached takes keys of up to 250 bytes without blanks and control characters; some of them are for a slice's index. */
const PLAIN = /^[\x21-\x7e]{1,220}$/

/** The key of an item for a key at rest: the same, or, where memcached would not take that, its hash; half a surrogate pair, which UTF-8 does not know, counts. */
export function itemKey(key: string): string {
  return PLAIN.test(key) ? key : `hg:${createHash('sha256').update(key, 'utf16le').digest('base64url')}`
}
