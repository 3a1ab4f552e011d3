import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FrameworkTypes } from '../../util/framework-types.js'
import { wrongKind, wrongOption, wrongUse } from '../../util/validate.js'
import { isFunction } from '../../util/values.js'
import { COST, type CostOf, type CostOptions, type CostSource, type ResponseCost } from '../cost-source.js'
import { adjustToCost } from './adjust-to-cost.js'

/** The type of `responseCost` in a framework. Without annotations, `costOf` takes the framework's types. */
export type MakeResponseCost<F extends FrameworkTypes> = <Req = F['request'], Res = F['response']>(
  costOf: CostOf<Req, Res>,
) => ResponseCost<Req, Res>

/**
 * Creates the cost of requests that is known only after their response, for the option `actualCost`. Each
 * request is charged `cost`, and corrected to what this function returns: units, or units by limit name.
 *
 * @example
 * ```ts
 * import { rateLimit, responseCost } from 'headgate/http'
 *
 * const api = rateLimit({
 *   limit: 1_000_000, // bytes
 *   window: '1m',
 *   cost: 10_000,
 *   actualCost: responseCost((_req, res) => Number(res.getHeader('Content-Length') ?? 10_000)),
 * })
 * ```
 */
export function responseCost<Req = IncomingMessage, Res = ServerResponse>(
  costOf: CostOf<Req, Res>,
): ResponseCost<Req, Res> {
  if (!isFunction(costOf)) {
    const fix = 'Write responseCost((req, res) => res.locals.tokens).'
    throw wrongKind('responseCost', 'costOf', 'a function', costOf, fix)
  }
  const source: CostSource & { readonly costOf: CostOf<Req, Res> } = {
    costOf,
    checkOptions,
    adjustAfterResponse: (writer) => adjustToCost(costOf as CostOf<unknown, unknown>, writer),
  }
  return { [COST]: source }
}

function checkOptions(owner: string, { count, cost, limits = [] }: CostOptions): void {
  if (count !== 'all') {
    const problem = 'give either count or actualCost, not both'
    throw wrongUse(owner, problem, 'Return 0 from actualCost for requests that do not count.')
  }
  if (![{ cost }, ...limits].some((each) => each.cost === 0)) return
  const fix = 'A charge of 0 is always allowed: write an estimate.'
  throw wrongOption(owner, 'cost', 'at least 1 with actualCost', 0, fix)
}
