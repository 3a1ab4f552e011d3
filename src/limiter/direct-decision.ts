import type { ChargeResult, PartResult } from '../stores/operation.js'
import { localStatesOf } from '../stores/shared/local-states.js'
import { asStoreError, type StoreError } from '../stores/store-error.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { type ChargeSubject, KEY_END, type Limit, limitBinder, partOf, subjectCharger } from './bind-limit.js'
import { type Decision, LimiterDecision, partDecision, unchargedDecision } from './decision.js'
import type { LimiterSettings } from './read-options.js'
import type { Apply, NamedPart, Receipt } from './receipt.js'

/** How a limiter holds units, and decides if the store throws. */
interface DirectOptions {
  readonly apply: Apply
  readonly hold: (receipt: Receipt) => void
  readonly decideWithoutStore: (
    error: StoreError,
    parts: readonly NamedPart[],
    subject: unknown,
  ) => MaybePromise<Decision>
}

/**
 * Creates the function that charges subjects of the most common limiter: one limit, in memory. It passes the
 * identity and the cost straight to the policy, without building an operation, a result or a key. Returns
 * `undefined` for other limiters.
 */
export function directCharge(
  { entries, context, store, holdUndecided }: LimiterSettings,
  { apply, hold, decideWithoutStore }: DirectOptions,
): ChargeSubject | undefined {
  const local = localStatesOf(store)
  const [entry, ...others] = entries
  if (holdUndecided !== undefined) return undefined
  if (local === undefined || entry === undefined || others.length > 0) return undefined

  const noLimit = () => unchargedDecision('none')
  const decide = limitBinder<Decision>(entry, context, noLimit, (limit) => {
    const { policy, scope } = limit
    const localLimit = local.limitOf(policy, scope, KEY_END)
    const { holdsUnits } = policy
    return function decideDirectly(identity, cost, subject) {
      let nowMs: number
      let figures: PartResult
      try {
        nowMs = localLimit.now()
        figures = localLimit.take(identity, nowMs, cost)
      } catch (cause) {
        return decideWithoutStore(asStoreError(store.name, cause), [partOf(limit, identity, cost)], subject)
      }
      const receipt = new DirectReceipt(limit, identity, cost, nowMs, figures, apply)
      if (holdsUnits) hold(receipt)
      const part = partDecision(limit, cost, figures, nowMs)
      return new LimiterDecision(part, figures.allowed, [part], 'store', receipt)
    }
  })
  return subjectCharger(decide, (decision, subject, finish) => finish(decision, subject))
}

/**
 * A receipt that builds its parts and its result on demand. `declare` omits field initialisers, which would
 * set each field twice.
 */
class DirectReceipt implements Receipt {
  declare isRefundable: boolean
  declare readonly apply: Apply
  declare private readonly limit: Limit
  declare private readonly identity: string
  declare private readonly cost: number
  declare private readonly atMs: number
  declare private readonly figures: PartResult

  constructor(limit: Limit, identity: string, cost: number, atMs: number, figures: PartResult, apply: Apply) {
    this.isRefundable = figures.allowed
    this.apply = apply
    this.limit = limit
    this.identity = identity
    this.cost = cost
    this.atMs = atMs
    this.figures = figures
  }

  get parts(): readonly NamedPart[] {
    return [partOf(this.limit, this.identity, this.cost)]
  }

  get result(): ChargeResult {
    return { type: 'charge', allowed: this.figures.allowed, atMs: this.atMs, parts: [this.figures] }
  }
}
