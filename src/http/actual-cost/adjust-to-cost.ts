import { adjustDecision } from '../../limiter/adjust-decision.js'
import { chargedParts, type Decision, receiptOf } from '../../limiter/decision.js'
import type { LimiterParts } from '../../limiter/limiter-methods.js'
import { checkNames } from '../../limiter/named-limits.js'
import { checkedCost } from '../../limiter/read-limits.js'
import { wrongOption } from '../../util/validate.js'
import { isObject } from '../../util/values.js'
import { emitIfFails, type OnAllowed } from '../after-response.js'
import type { ActualCost, CostOf } from '../cost-source.js'
import type { ResponseWriter } from '../response-writer.js'

/**
 * Corrects the charge of a request to what it cost, once its response has finished. If the client hangs up
 * first, this waits until the handler ends the response, and refunds nothing. Otherwise hanging up would make
 * requests cheaper.
 */
export function adjustToCost<Req, Res>(
  costOf: CostOf<unknown, unknown>,
  writer: ResponseWriter<Res>,
): OnAllowed<Req, Res> {
  return (limiter, req, res, decision) => {
    let hasLeft = false
    let isSettled = false
    const settle = (change: 'any' | 'upwards') => {
      if (isSettled) return undefined
      isSettled = true
      return emitIfFails(limiter, decision, async () => {
        const response = writer.responseOf ? writer.responseOf(res) : res
        await adjustParts(limiter, decision, await costOf(req, response), change)
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
