import { createHmac, hash } from 'node:crypto'

/** SHA-256 reads its input in blocks of so many bytes; a key of HMAC fills one. */
const BLOCK_BYTES = 64
const ASCII_BLOCK = /^[\0-\x7f]{0,64}$/

/** Hashes a text under a secret. */
export type KeyedHash = (text: string) => string

/**
 * Creates HMAC-SHA-256 under a secret (RFC 2104), with results in base64url. The secret is padded once, so
 * each text costs two one-shot hashes; `createHmac`, which serves longer secrets, builds a stream for each.
 */
export function keyedHash(secret: string): KeyedHash {
  if (!ASCII_BLOCK.test(secret))
    return (text) => createHmac('sha256', secret).update(text).digest('base64url')
  const inner = padded(secret, 0x36).toString('latin1') // ASCII, so UTF-8 leaves its bytes as they are
  const outer = Buffer.alloc(BLOCK_BYTES + 32, padded(secret, 0x5c))
  return (text) => {
    outer.write(hash('sha256', inner + text, 'binary'), BLOCK_BYTES, 'latin1')
    return hash('sha256', outer, 'base64url')
  }
}

function padded(key: string, pad: number): Buffer {
  return Buffer.from(key.padEnd(BLOCK_BYTES, '\0'), 'latin1').map((byte) => byte ^ pad) as Buffer
}
