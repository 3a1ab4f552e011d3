import { sha256 } from '../platform.js'

const MAX_LENGTH = 64 // of the name of a limiter
const HASH_LENGTH = 8

/**
 * Returns a name for the limiter of a route or a handler. The name is valid in keys and headers. It ends
 * with a hash if `text` is too long, or if `text` does not match `plain`. No two texts that match `plain`
 * have one name.
 */
export function limiterName(text: string, plain: RegExp): string {
  const name = text.replace(/[^\w.-]+/g, '.')
  if (name.length <= MAX_LENGTH && plain.test(text)) return name
  const hash = hexOf(sha256(text)).slice(0, HASH_LENGTH)
  return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}-${hash}`.replace(/^[^A-Za-z\d]+/, '')
}

/** Returns a digest in base64url as hexadecimal. */
function hexOf(digest: string): string {
  const bytes = atob(digest.replaceAll('-', '+').replaceAll('_', '/'))
  return Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('')
}
