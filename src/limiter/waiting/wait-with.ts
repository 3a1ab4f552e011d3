import type { Decision } from '../decision.js'
import { requirePartsOf } from '../inspection.js'
import type { Limiter, MiddlewareLimiter } from '../limiter.js'
import type { LimiterParts } from '../limiter-methods.js'
import { createWaiting } from './wait-for.js'
import type { WaitOptions } from './wait-options.js'

/**
 * Waits until a charge is allowed, like the method `waitFor` of a limiter from `createLimiter`. It also
 * takes the limiter of a middleware, which has no such method.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { rateLimit, waitFor } from 'headgate'
 *
 * const app = express()
 * const api = rateLimit({ limit: 100, window: '1m' })
 * app.post('/import', async (req, res) => {
 *   const { allowed } = await waitFor(api.limiter, req, { maxWait: '5s' })
 *   res.sendStatus(allowed ? 202 : 503)
 * })
 * ```
 */
export function waitFor<Subject>(
  limiter: MiddlewareLimiter<Subject>,
  subject: Subject,
  options?: WaitOptions,
): Promise<Decision> {
  return waitWith(requirePartsOf<Subject>('waitFor', limiter))(subject, options)
}

/** Returns the method `waitFor` of a limiter. The first waiter creates the queues. */
export function waitWith<Subject>(parts: LimiterParts<Subject>): Limiter<Subject>['waitFor'] {
  return (subject, options) => {
    parts.waiting ??= createWaiting(parts.core, { ...parts, modeSwitch: parts.settings.modeSwitch })
    return parts.waiting.waitFor(subject, options)
  }
}
