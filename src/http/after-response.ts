import { stopRenewals } from '../limiter/concurrency/held-by-decision.js'
import type { Decision } from '../limiter/decision.js'
import { emitFailure } from '../limiter/events.js'
import type { MiddlewareLimiter } from '../limiter/limiter.js'
import type { LimiterParts } from '../limiter/limiter-methods.js'
import { refundDecision } from '../limiter/refund-decision.js'
import { endUndecided } from '../limiter/undecided.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { checkBoolean } from '../util/validate.js'
import type { ResponseWriter } from './response-writer.js'

/** Which requests stay charged. All others are refunded. A function returns true for requests that count. */
export type Count<Req, Res> =
  | 'all'
  | 'failed'
  | 'successful'
  | ((req: Req, res: Res) => MaybePromise<boolean>)

/** Called with a request that passed a limiter, before its handler runs. */
export type OnAllowed<Req, Res> = (limiter: LimiterParts<Req>, req: Req, res: Res, decision: Decision) => void

/**
 * Refunds a request once its response has finished with an outcome that does not count. If the client hangs
 * up before that, the request stays charged. Otherwise, hanging up would bypass the limit. The request is
 * undecided until its outcome is known.
 */
export function refundUncounted<Req, Res>(
  count: Exclude<Count<Req, Res>, 'all'>,
  writer: ResponseWriter<Res>,
): OnAllowed<Req, Res> {
  return (limiter, req, res, decision) => {
    let isFinished = false
    writer.onceFinished(res, async (status) => {
      isFinished = true
      await emitIfFails(limiter, decision, async () => {
        const counts =
          typeof count === 'function'
            ? checkBoolean('headgate', 'count', await count(req, res))
            : (count === 'failed') === status >= 400
        const refunded = counts ? undefined : refundDecision(limiter, decision)
        const ended = endUndecided(decision) // in the same batch
        await refunded
        await ended
      })
      endUndecided(decision) // also if `count` throws
    })
    writer.onceAborted(res, () => {
      if (!isFinished) endUndecided(decision)
    })
  }
}

/**
 * Holds the `concurrency` units of a request until its response is over. If it is over already, releases
 * them and returns false. The callbacks refer neither to the request nor to the response.
 */
export function releaseOnEnd<Res>(
  limiter: MiddlewareLimiter<never>,
  writer: ResponseWriter<Res>,
  res: Res,
  decision: Decision,
): boolean {
  const release = () => limiter.release(decision)
  const isOpen = writer.onceEnded(res, release, () => stopRenewals(decision))
  if (!isOpen) void release()
  return isOpen
}

/** Refunds a request that does not pass. Never rejects. */
export function giveBack<Req>(limiter: LimiterParts<Req>, decision: Decision): Promise<void> {
  return emitIfFails(limiter, decision, () => refundDecision(limiter, decision))
}

/** Changes what a decision took after its response, when no caller sees a failure. Never rejects. */
export async function emitIfFails<Req>(
  { events }: LimiterParts<Req>,
  decision: Decision,
  change: () => MaybePromise<void>,
): Promise<void> {
  try {
    await change()
  } catch (error) {
    emitFailure(events, 'refundFailed', error, decision)
  }
}
