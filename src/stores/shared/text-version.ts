import { createHash } from 'node:crypto'

/** Returns the version of a document: a hash of its text, since counters begin anew in an emptied store. */
export function textVersion(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
