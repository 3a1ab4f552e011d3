import { IDENTITY_START } from '../../keys/identity-braces.js'

/** Returns where the identity in a key begins, with its brace. A key without a brace is its own identity. */
export function identityStart(key: string): number {
  return Math.max(key.indexOf(IDENTITY_START), 0)
}

/**
 * Returns the shard of a key, from 0. It is a hash of the identity, so all limits of a client have the same
 * shard. The hash is FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/). Its high bits are folded into the
 * low ones, because those depend only on the low bits of each character.
 */
export function identityShard(key: string, shards: number): number {
  let hash = 0x811c9dc5
  for (let i = identityStart(key); i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  hash ^= hash >>> 16
  return ((hash ^ (hash >>> 8)) >>> 0) % shards
}
