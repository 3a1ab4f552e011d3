import { stopRenewals } from '../features/holdings.js'
import type { Limiter } from '../features/limiter.js'
import type { Decision } from '../limiter/decision.js'
import { emitFailure } from '../limiter/events.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { ResponseWriter } from './response-writer.js'

/** Which requests stay charged. The others are refunded. A function returns true for those that count. */
export type Count<Req, Res> =
  | 'all'
  | 'failed'
  | 'successful'
  | ((req: Req, res: Res) => MaybePromise<boolean>)

/** Called with a request that passed a limiter, before its handler runs. */
export type OnAllowed<Req, Res> = (limiter: Limiter<Req>, req: Req, res: Res, decision: Decision) => void

/**
 * Refunds a request once its response has finished with an outcome that does not count. If the client hangs
 * up before that, the request stays charged. Otherwise hanging up would bypass the limit.
 */
export function refundUncounted<Req, Res>(
  count: Exclude<Count<Req, Res>, 'all'>,
  writer: ResponseWriter<Res>,
): OnAllowed<Req, Res> {
  return (limiter, req, res, decision) => {
    writer.onceFinished(res, (status) =>
      emitIfFails(limiter, decision, async () => {
        const counts =
          typeof count === 'function' ? await count(req, res) : (count === 'failed') === status >= 400
        if (!counts) await limiter.refund(decision)
      }),
    )
  }
}

/**
 * Corrects what a request was charged to what it has cost, once its response has finished. If the client hangs
 * up before that, the charge stays as it is. Otherwise hanging up would make expensive requests cheap.
 */
export function adjustToActualCost<Req, Res>(
  actualCost: (req: Req, res: Res) => MaybePromise<number>,
  writer: ResponseWriter<Res>,
): OnAllowed<Req, Res> {
  return (limiter, req, res, decision) => {
    writer.onceFinished(res, () =>
      emitIfFails(limiter, decision, async () => limiter.adjust(decision, await actualCost(req, res))),
    )
  }
}

/**
 * Holds the `concurrency` units of a request until its response is over. If it is over already, releases
 * them and returns false. The callbacks refer neither to the request nor to the response.
 */
export function releaseOnEnd<Res>(
  limiter: Limiter<never>,
  writer: ResponseWriter<Res>,
  res: Res,
  decision: Decision,
): boolean {
  const release = () => emitIfFails(limiter, decision, () => limiter.release(decision))
  const isOpen = writer.onceEnded(res, release, () => stopRenewals(decision))
  if (!isOpen) release()
  return isOpen
}

/** Changes what a decision took after its response, when no caller sees a failure. Never rejects. */
async function emitIfFails(
  { events }: Limiter<never>,
  decision: Decision,
  change: () => MaybePromise<void>,
): Promise<void> {
  try {
    await change()
  } catch (error) {
    emitFailure(events, 'refundFailed', error, decision)
  }
}
