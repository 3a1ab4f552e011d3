import { createHash } from 'node:crypto'

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
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH)
  return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}-${hash}`.replace(/^[^A-Za-z\d]+/, '')
}
