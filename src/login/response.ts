import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DenialBody } from '../http/denial-body.js'
import { type HeaderList, wholeSeconds } from '../http/headers.js'
import type { Next, OnLimited } from '../http/options.js'
import { refuse, send, setAll } from '../http/respond.js'
import type { Decision } from '../limiter/decision.js'

/** What a refused attempt is told of when to come back: always the same time, the exact one, or none. */
export type LoginRetryAfter = 'coarse' | 'exact' | 'none'

/** How refused attempts are answered. */
export interface LoginAnswer<Req, Res> {
  readonly retryAfter: LoginRetryAfter
  /** What `'coarse'` tells. */
  readonly coarseMs: number
  readonly statusCode: number
  readonly message: DenialBody | undefined
  readonly onLimited: OnLimited<Req, Res> | undefined
}

/**
 * Answers every refused attempt alike: neither which limit refused it nor how much is left of any, so that nobody learns from it whether
 * there is such an account, or whether it is locked (OWASP Authentication cheat sheet; ASVS 5.0, 6.3.8).
 */
export function loginAnswer<Req extends IncomingMessage, Res extends ServerResponse>({
  retryAfter,
  coarseMs,
  statusCode,
  message,
  onLimited,
}: LoginAnswer<Req, Res>): OnLimited<Req, Res> {
  function retryAfterMs(decision: Decision): number {
    if (retryAfter === 'none') return Number.POSITIVE_INFINITY
    return retryAfter === 'coarse' ? coarseMs : decision.retryAfterMs
  }

  return function refuseAttempt(req: Req, res: Res, next: Next, decision: Decision): unknown {
    const told = { retryAfterMs: retryAfterMs(decision), parts: [] }
    const headers: HeaderList = ['Cache-Control', 'no-store']
    if (Number.isFinite(told.retryAfterMs))
      headers.push('Retry-After', String(wholeSeconds(told.retryAfterMs)))
    res.removeHeader('Retry-After')
    if (onLimited !== undefined) {
      setAll(res, headers)
      return onLimited(req, res, next, decision)
    }
    if (message !== undefined) return send(res, statusCode, headers, message)
    return refuse(req, res, 'limited', statusCode, headers, told)
  }
}
