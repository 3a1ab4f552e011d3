import { adjustDecision, refundDecision } from '../limiter/adjust-decision.js'
import { stopRenewals } from '../limiter/concurrency/held-by-decision.js'
import { chargedParts, type Decision, receiptOf } from '../limiter/decision.js'
import { emitFailure } from '../limiter/events.js'
import type { MiddlewareLimiter } from '../limiter/limiter.js'
import type { LimiterParts } from '../limiter/limiter-methods.js'
import { checkNames } from '../limiter/named-limits.js'
import { checkedCost } from '../limiter/read-limits.js'
import { endUndecided } from '../limiter/undecided.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { checkBoolean, wrongOption } from '../util/validate.js'
import { isObject } from '../util/values.js'
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

/** What a request has cost: a number of units, or units by limit name. */
export type ActualCost = number | Readonly<Record<string, number>>

/**
 * Corrects the charge of a request to what it cost, once its response has finished. If the client hangs up
 * first, this waits until the handler ends the response, and refunds nothing. Otherwise hanging up would make
 * requests cheaper.
 */
export function adjustToActualCost<Req, Res>(
  actualCost: (req: Req, res: Res) => MaybePromise<ActualCost>,
  writer: ResponseWriter<Res>,
): OnAllowed<Req, Res> {
  return (limiter, req, res, decision) => {
    let hasLeft = false
    let isSettled = false
    const settle = (change: 'any' | 'upwards') => {
      if (isSettled) return undefined
      isSettled = true
      return emitIfFails(limiter, decision, async () => {
        await adjustParts(limiter, decision, await actualCost(req, res), change)
      })
    }
    writer.onceFinished(res, () => settle('any'))
    writer.onceEnded(
      res,
      () => hasLeft && settle('upwards'),
      () => {
        hasLeft = true
      },
    )
  }
}

async function adjustParts<Req>(
  limiter: LimiterParts<Req>,
  decision: Decision,
  actualCost: ActualCost,
  change: 'any' | 'upwards',
): Promise<void> {
  // The handler has corrected the charge itself, perhaps to more than this.
  if (change === 'upwards' && receiptOf(decision)?.ledger !== undefined) return
  const parts = (chargedParts(decision) ?? []).filter(({ policy }) => !policy.holdsUnits)
  const isNumber = typeof actualCost === 'number'
  if (isNumber ? parts.length > 1 : !isObject(actualCost)) {
    const must = 'units by limit name, such as { tokens: 1210 }, or a number if there is one limit'
    const fix = 'Return 0 if the request does not count.'
    throw wrongOption('headgate', 'the result of actualCost', must, actualCost, fix)
  }
  const costs = isNumber ? parts.map(({ name }) => [name, actualCost] as const) : Object.entries(actualCost)
  const charged = new Map(parts.map(({ name, cost }) => [name, cost]))
  const changes = costs.filter(([name, cost]) => change === 'any' || !(cost <= (charged.get(name) ?? cost)))
  const { owner, core } = limiter
  const adjust = async (name: string, cost: number) => {
    checkNames(owner, [name], core.limitNames)
    await adjustDecision(limiter, decision, checkedCost(owner, 'actualCost', cost), [name])
  }
  await Promise.all(changes.map((change) => adjust(...change)))
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
async function emitIfFails<Req>(
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
