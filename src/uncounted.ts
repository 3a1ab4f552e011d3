import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Decision } from './decision.js'
import type { Limiter } from './limiter.js'
import type { MaybePromise } from './maybe-promise.js'
import type { Count } from './middleware-options.js'
import { tellRefundFailed } from './observe/events.js'

/**
 * Gives back what a request took, once its response has finished with an outcome that does not count. A response that
 * never finishes, since the client hung up, stays charged: else hanging up would be a way around.
 */
export function giveBackUncounted<Req extends IncomingMessage, Res extends ServerResponse>(
  limiter: Limiter<Req>,
  count: Count<Req, Res>,
  req: Req,
  res: Res,
  decision: Decision,
): void {
  res.once('finish', async () => {
    try {
      if (!(await counts(count, req, res))) await limiter.refund(decision)
    } catch (error) {
      tellRefundFailed(limiter.events, error, decision)
    }
  })
}

function counts<Req, Res extends ServerResponse>(
  count: Count<Req, Res>,
  req: Req,
  res: Res,
): MaybePromise<boolean> {
  if (typeof count === 'function') return count(req, res)
  const failed = res.statusCode >= 400
  return count === 'failed' ? failed : count === 'all' || !failed
}
