import { stopRenewals } from '../features/holdings.js'
import type { Limiter } from '../features/limiter.js'
import type { Decision } from '../limiter/decision.js'
import { emitFailure } from '../limiter/events.js'
import type { Server } from './server.js'

/**
 * Holds the `concurrency` units of a request until its response is over. If it is over already, releases
 * them and returns false.
 */
export function holdUnits<Res>(
  limiter: Limiter<never>,
  server: Server<Res>,
  res: Res,
  decision: Decision,
): boolean {
  const release = releaserOf(limiter, decision)
  const isOpen = server.onceEnded(res, release, () => stopRenewals(decision))
  if (!isOpen) release()
  return isOpen
}

/**
 * Creates a function that releases a decision, and that keeps no reference to the request or the response.
 */
function releaserOf(limiter: Limiter<never>, decision: Decision): () => Promise<void> {
  return async () => {
    try {
      await limiter.release(decision)
    } catch (error) {
      emitFailure(limiter.events, 'refundFailed', error, decision)
    }
  }
}
