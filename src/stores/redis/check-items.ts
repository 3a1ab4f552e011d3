import { show } from '../../checks.js'
import type { Charge, Part, Refund } from '../store.js'
import { LUA_POLICIES } from './lua-policies.js'

/**
 * Throws a `TypeError` for what no script could read, before it comes into a batch, where it would spoil the items of others: JSON
 * has no word for a number that is not finite.
 */
export function checkCharges(charges: readonly Charge[]): void {
  for (const charge of charges) for (const part of charge) checkPart(part)
}

export function checkRefunds(refunds: readonly Refund[]): void {
  for (const refund of refunds) {
    checkPart(refund)
    if (Number.isFinite(refund.takenAtMs)) continue
    throw new TypeError(
      `redisStore: takenAtMs must be a time in milliseconds, got ${show(refund.takenAtMs)}.`,
    )
  }
}

function checkPart({ policy, cost }: Part): void {
  if (typeof cost !== 'number' || !(cost >= 0 && cost <= Number.MAX_SAFE_INTEGER)) {
    throw new TypeError(`redisStore: a cost must be a number of at least 0, got ${show(cost)}.`)
  }
  if (LUA_POLICIES[policy.kind] !== undefined) return
  const known = Object.keys(LUA_POLICIES).join(', ')
  throw new TypeError(
    `redisStore: there is no script for a policy of kind ${show(policy.kind)}, only for ${known}.`,
  )
}
