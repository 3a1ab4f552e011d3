import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * A secret from the environment. Where there is none the example makes one, and what it signed is worth
 * nothing after a restart.
 */
export function secretFrom(variable: string): string {
  return process.env[variable] || randomBytes(32).toString('base64url')
}

/** Compares secrets of any length in constant time. */
export function isSame(given: string, secret: string): boolean {
  const [one, other] = [given, secret].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(one as Buffer, other as Buffer)
}
