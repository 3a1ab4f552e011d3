import { type TextKey, textKey } from '../keys/identity.js'
import { IDENTITY_END } from '../keys/identity-braces.js'
import type { PartResult } from '../stores/operation.js'
import { localStatesOf } from '../stores/shared/local-states.js'
import { asStoreError } from '../stores/store-error.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { type ChargeDirectly, chargeResolved, type LimiterCore, resolveFailure } from './core.js'
import {
  type Decision,
  denyDisconnected,
  type Finish,
  LimiterDecision,
  partDecision,
  receiptOf,
} from './decision.js'
import type { Entry } from './read-limits.js'
import type { MakeReceipt, Receipt } from './receipt.js'
import { type Limit, limitOf, partOf, resolvePart } from './resolve-parts.js'

/** Charges a subject with the limits in force. Throws or rejects with what an option function threw. */
export function chargeSubject(
  core: LimiterCore,
  subject: unknown,
  cost: number | undefined,
  finish: Finish,
): MaybePromise<Decision> {
  const polling = core.beforeCharge?.()
  return polling === undefined
    ? chargeInForce(core, subject, cost, finish)
    : polling.then(() => chargeInForce(core, subject, cost, finish))
}

function chargeInForce(
  core: LimiterCore,
  subject: unknown,
  cost: number | undefined,
  finish: Finish,
): MaybePromise<Decision> {
  const { limits } = core
  const { chargeDirectly } = limits
  if (chargeDirectly !== undefined) return chargeDirectly(subject, cost, finish)
  return chargeResolved(core, limits.resolveCharge, subject, cost, finish)
}

/**
 * Creates the function that charges subjects of the most common limiter: one limit, in memory. It passes the
 * identity and the cost straight to the policy, without building an operation, a result or a key. Returns
 * `undefined` for other limits.
 */
export function directCharge(core: LimiterCore, entries: readonly Entry[]): ChargeDirectly | undefined {
  const { context, store, trackUndecided } = core.settings
  const local = localStatesOf(store)
  const [entry, ...others] = entries
  if (local === undefined || entry === undefined || others.length > 0 || trackUndecided) return undefined
  const { policy, key = [context.usualKey], cost: limitCost = 1, skip } = entry
  if (typeof policy === 'function' || skip !== undefined) return undefined
  const limit = limitOf(entry, context, policy)
  const { beginning, key: readValue, textOf, identify } = textKey(key, context)
  const localLimit = local.limitOf(policy, limit.scope + beginning, IDENTITY_END, textOf !== undefined)
  const makeReceipt: MakeReceipt = (text, taken, atMs, figures) => ({
    parts: [partOf(limit, beginning + text, taken)],
    result: { type: 'charge', allowed: figures.allowed, atMs, parts: [figures] },
    apply: core.apply,
    isRefundable: figures.allowed,
  })

  return function chargeDirectly(subject, chargeCost, finish) {
    const cost = chargeCost ?? limitCost
    let value: unknown
    try {
      value = readValue(subject as never)
    } catch (error) {
      return finish(denyDisconnected(error), subject)
    }
    const text = textOf === undefined ? value : textOf(value, subject)
    if (typeof text !== 'string' || typeof cost !== 'number')
      return chargeIdentified(core, limit, { value, identify }, cost, subject, finish)
    let nowMs: number
    let figures: PartResult | undefined
    try {
      nowMs = localLimit.now()
      figures = localLimit.take(text, nowMs, cost)
    } catch (cause) {
      const error = asStoreError(core.settings.store.name, cause)
      return resolveFailure(core, error, [partOf(limit, beginning + text, cost)], subject, finish)
    }
    if (figures === undefined)
      return chargeIdentified(core, limit, { value, identify }, cost, subject, finish)
    const part = partDecision(limit, cost, figures, nowMs)
    const { allowed } = figures
    const decision = new LimiterDecision(
      part,
      allowed,
      [part],
      'store',
      makeReceipt,
      text,
      cost,
      nowMs,
      figures,
    )
    if (policy.holdsUnits) core.hold?.(receiptOf(decision) as Receipt)
    return finish(decision, subject)
  }
}

// Closures are made in the functions below only: `chargeDirectly` would allocate its variables for them.

/** Charges a subject whose identity or cost takes longer to find. `value` is what the key returned. */
function chargeIdentified(
  core: LimiterCore,
  limit: Limit,
  { value, identify }: Pick<TextKey, 'identify'> & { readonly value: unknown },
  cost: Parameters<typeof resolvePart>[2],
  subject: unknown,
  finish: Finish,
): MaybePromise<Decision> {
  const resolve = () => {
    const identity = thenMaybe(value, (resolved) => identify(resolved, subject))
    return resolvePart(limit, identity, cost, subject)
  }
  return chargeResolved(core, resolve, subject, undefined, finish)
}
