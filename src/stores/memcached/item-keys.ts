import { hashKey } from '../shared/hash-key.js'

/** memcached takes keys of up to 250 bytes without blanks and control characters; some of them are for a slice's index. */
const PLAIN = /^[\x21-\x7e]{1,220}$/

/** The key of an item for a key at rest: the same, or, where memcached would not take that, its hash. */
export function itemKey(key: string): string {
  return PLAIN.test(key) ? key : hashKey(key)
}
