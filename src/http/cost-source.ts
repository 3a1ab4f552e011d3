import type { Entry } from '../limiter/read-limits.js'
import { readImported } from '../options/imported-option.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { OnAllowed } from './after-response.js'
import type { ResponseWriter } from './response-writer.js'

/** A registered symbol, so that another copy of this package reads the costs of this one. */
export const COST: unique symbol = Symbol.for('headgate.actualCost') as never

/** What a request has cost: a number of units, or units by limit name. */
export type ActualCost = number | Readonly<Record<string, number>>

/** Returns what a request has cost, once its response has finished. */
export type CostOf<Req, Res> = (req: Req, res: Res) => MaybePromise<ActualCost>

/** How to find what requests have cost, which `responseCost` returns. */
export interface ResponseCost<Req, Res> {
  readonly [COST]: { readonly costOf: CostOf<Req, Res> }
}

/** The options that cannot be combined with each actual cost. */
export interface CostOptions {
  readonly count: unknown
  readonly cost: Entry['cost']
  readonly limits: readonly Entry[] | undefined
}

/** The code for actual costs. `responseCost` brings it, so limiters without one do not bundle it. */
export interface CostSource {
  /** Throws a `TypeError` for options that cannot be combined with an actual cost. */
  checkOptions(owner: string, options: CostOptions): void
  /** Creates what corrects the charge of each allowed request after its response. */
  adjustAfterResponse<Req, Res>(writer: ResponseWriter<Res>): OnAllowed<Req, Res>
}

/** Reads the option `actualCost`. Throws a `TypeError` for a value that is not from `responseCost`. */
export function readCostOption(owner: string, option: string, value: unknown): CostSource {
  const example = '(req, res) => res.locals.tokens'
  return readImported(owner, option, value, COST, 'responseCost', example) as CostSource
}
