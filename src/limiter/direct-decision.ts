import { identityReader } from '../keys/identity.js'
import type { ChargeResult, PartResult } from '../stores/operation.js'
import { localStatesOf } from '../stores/shared/local-states.js'
import { asStoreError, type StoreError } from '../stores/store-error.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import {
  type ChargeParts,
  type ChargeSubject,
  chargeResolved,
  KEY_END,
  type Limit,
  limitOf,
  partOf,
  resolvePart,
} from './bind-limit.js'
import { type Decision, denyDisconnected, LimiterDecision, partDecision } from './decision.js'
import type { LimiterSettings } from './read-options.js'
import type { Apply, NamedPart, Receipt } from './receipt.js'

/** What a limiter decides with if it is not that of the store. */
interface DirectOptions {
  readonly apply: Apply
  readonly hold: (receipt: Receipt) => void
  readonly chargeParts: ChargeParts
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
  { apply, hold, chargeParts, decideWithoutStore }: DirectOptions,
): ChargeSubject | undefined {
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
      return chargeResolved(() => resolvePart(limit, identity, cost, subject), subject, finish, chargeParts)
    let nowMs: number
    let figures: PartResult
    try {
      nowMs = localLimit.now()
      figures = localLimit.take(identity, nowMs, cost)
    } catch (cause) {
      const parts = [partOf(limit, identity, cost)]
      const decided = decideWithoutStore(asStoreError(store.name, cause), parts, subject)
      return thenMaybe(decided, (decision) => finish(decision, subject))
    }
    const receipt = new DirectReceipt(limit, identity, cost, nowMs, figures, apply)
    if (policy.holdsUnits) hold(receipt)
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
