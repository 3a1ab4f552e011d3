import { identityReader } from '../keys/identity.js'
import type { ChargeResult, PartResult } from '../stores/operation.js'
import { localStatesOf } from '../stores/shared/local-states.js'
import { asStoreError } from '../stores/store-error.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { KEY_END, type Limit, limitOf, partOf, resolvePart } from './bind-limit.js'
import { type ChargeDirectly, chargeResolved, decideWithoutStore, type LimiterCore } from './core.js'
import { denyDisconnected, LimiterDecision, partDecision } from './decision.js'
import type { Entry } from './read-limits.js'
import type { Apply, NamedPart, Receipt } from './receipt.js'

/**
 * Creates the function that charges subjects of the most common limiter: one limit, in memory. It passes the
 * identity and the cost straight to the policy, without building an operation, a result or a key. Returns
 * `undefined` for other limits.
 */
export function directCharge(core: LimiterCore, entries: readonly Entry[]): ChargeDirectly | undefined {
  const { context, store, holdUndecided } = core.settings
  const local = localStatesOf(store)
  const [entry, ...others] = entries
  if (local === undefined || entry === undefined || others.length > 0 || holdUndecided) return undefined
  const { policy, key = [context.usualKey], cost: limitCost = 1, skip } = entry
  if (typeof policy === 'function' || skip !== undefined) return undefined
  const limit = limitOf(entry, context, policy)
  const localLimit = local.limitOf(policy, limit.scope, KEY_END)
  const readIdentity = identityReader(key, context)

  return function chargeDirectly(subject, chargeCost, finish) {
    const cost = chargeCost ?? limitCost
    let identity: MaybePromise<string | undefined>
    try {
      identity = readIdentity(subject)
    } catch (error) {
      return finish(denyDisconnected(error), subject)
    }
    if (typeof identity !== 'string' || typeof cost !== 'number')
      return chargeResolved(core, () => resolvePart(limit, identity, cost, subject), subject, finish)
    let nowMs: number
    let figures: PartResult
    try {
      nowMs = localLimit.now()
      figures = localLimit.take(identity, nowMs, cost)
    } catch (cause) {
      const parts = [partOf(limit, identity, cost)]
      const decided = decideWithoutStore(core, asStoreError(store.name, cause), parts, subject)
      return thenMaybe(decided, (decision) => finish(decision, subject))
    }
    const receipt = new DirectReceipt(limit, identity, cost, nowMs, figures, core.apply)
    if (policy.holdsUnits) core.hold(receipt)
    const part = partDecision(limit, cost, figures, nowMs)
    return finish(new LimiterDecision(part, figures.allowed, [part], 'store', receipt), subject)
  }
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
