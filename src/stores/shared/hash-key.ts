import { createHash } from 'node:crypto'

/** Returns a short printable key in place of one that a server rejects. UTF-16 keeps lone surrogates. */
export function hashKey(key: string): string {
  return `hg:${createHash('sha256').update(key, 'utf16le').digest('base64url')}`
}
