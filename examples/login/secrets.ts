import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * Returns a secret from the environment, or generates one. What a generated secret has signed becomes
 * invalid after a restart.
 */
export function secretFrom(variable: string): string {
  return process.env[variable] || randomBytes(32).toString('base64url')
}

/** Compares secrets of any length in constant time. */
export function isSame(given: string, secret: string): boolean {
  const [one, other] = [given, secret].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(one as Buffer, other as Buffer)
}
