import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Decision } from '../limiter/decision.js'
import { emitFailure } from '../limiter/events.js'
import type { Limiter } from '../limiter/limiter.js'
import type { MaybePromise } from '../util/maybe-promise.js'

/** Which responses stay charged; the others are refunded. A function returns true for those that count. */
export type Count<Req, Res> =
  | 'all'
  | 'failed'
  | 'successful'
  | ((req: Req, res: Res) => MaybePromise<boolean>)

/** Called with a request that passed a limiter, before its handler runs. */
export type OnAllowed<Req, Res> = (limiter: Limiter<Req>, req: Req, res: Res, decision: Decision) => void

/**
 * Refunds a request once its response has finished with an outcome that does not count. A response that
 * never finishes because the client hung up stays charged: otherwise hanging up would bypass the limit.
 * Node.js' HTTP/2 compatibility response emits `finish` on every close, with status 200 if nothing was sent;
 * it has been ended only if `writableEnded` says so.
 */
export function refundUncounted<Req extends IncomingMessage, Res extends ServerResponse>(
  count: Exclude<Count<Req, Res>, 'all'>,
): OnAllowed<Req, Res> {
  return (limiter, req, res, decision) => {
    res.once('finish', async () => {
      if (!res.writableEnded) return
      try {
        const isFailed = res.statusCode >= 400
        const counts = typeof count === 'function' ? await count(req, res) : (count === 'failed') === isFailed
        if (!counts) await limiter.refund(decision)
      } catch (error) {
        emitFailure(limiter.events, 'refundFailed', error, decision)
      }
    })
  }
}
