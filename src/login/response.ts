import type { IncomingMessage, ServerResponse } from 'node:http'
import { denialHeaders } from '../http/headers.js'
import type { MiddlewareSettings, OnLimited } from '../http/options.js'
import { respondLimited } from '../http/respond.js'
import type { LoginSettings } from './options.js'

/** `'coarse'` where the account's limit has no window. */
const DEFAULT_COARSE_MS = 3_600_000

/**
 * Creates the response to refused attempts. It is the same for all of them, and shows neither which limit
 * refused nor how much is left, so that nobody learns whether there is such an account, or whether it is
 * locked (OWASP Authentication cheat sheet; ASVS 5.0, 6.3.8).
 */
export function uniformRefusal<Req extends IncomingMessage, Res extends ServerResponse>(
  { retryAfter, policies }: LoginSettings<Req, Res>,
  settings: MiddlewareSettings<Req, Res>,
): OnLimited<Req, Res> {
  const { windowMs } = policies.account
  const coarseMs = Number.isFinite(windowMs) ? windowMs : DEFAULT_COARSE_MS
  const fixedMs = retryAfter === 'coarse' ? coarseMs : Number.POSITIVE_INFINITY

  return function refuseAttempt(req, res, next, decision) {
    const retryAfterMs = retryAfter === 'exact' ? decision.retryAfterMs : fixedMs
    const figures = { retryAfterMs, parts: [] }
    res.removeHeader('Retry-After')
    return respondLimited(settings, [req, res, next], decision, denialHeaders(figures), figures)
  }
}
