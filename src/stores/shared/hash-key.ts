import { createHash } from 'node:crypto'

/** Returns a short printable key for one that a server would not take. UTF-16 keeps lone surrogates. */
export function hashKey(key: string): string {
  return `hg:${createHash('sha256').update(key, 'utf16le').digest('base64url')}`
}
