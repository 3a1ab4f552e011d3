import { createHash } from 'node:crypto'

/** What stands for a key that a server would not take as it is. Half a surrogate pair, which UTF-8 does not know, counts. */
export function hashKey(key: string): string {
  return `hg:${createHash('sha256').update(key, 'utf16le').digest('base64url')}`
}
