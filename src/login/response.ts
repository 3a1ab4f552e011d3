import type { DenialFigures } from '../http/denial-body.js'
import type { Decision } from '../limiter/decision.js'
import type { LoginSettings } from './options.js'

/** `'coarse'` where the account's limit has no window. */
const DEFAULT_COARSE_MS = 3_600_000

/**
 * Creates the function that returns what a refused attempt is shown: the same for all of them, neither which
 * limit refused nor how much is left, so that nobody learns whether there is such an account, or whether it
 * is locked (OWASP Authentication cheat sheet; ASVS 5.0, 6.3.8).
 */
export function uniformFigures({
  retryAfter,
  policies,
}: LoginSettings<never, never>): (decision: Decision) => DenialFigures {
  const { windowMs } = policies.account
  const coarseMs = Number.isFinite(windowMs) ? windowMs : DEFAULT_COARSE_MS
  const fixedMs = retryAfter === 'coarse' ? coarseMs : Number.POSITIVE_INFINITY
  return (decision) => ({ retryAfterMs: retryAfter === 'exact' ? decision.retryAfterMs : fixedMs, parts: [] })
}
