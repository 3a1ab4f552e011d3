import { sha256 } from '../../platform.js'

/** Returns the version of a document: a hash of its text, since counters begin anew in an emptied store. */
export function textVersion(text: string): string {
  return sha256(text).slice(0, 22)
}
