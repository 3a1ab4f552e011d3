import { isPromise, type MaybePromise, readAll } from '../util/maybe-promise.js'
import type { NamedPart } from './decision.js'
import type { BoundPolicy, Limit } from './parse-limits.js'

/**
 * Returns the parts of a charge: one for each limit that applies to the subject. `cost` replaces the limits'
 * own cost. With `names`, only the keys of the limits of these names are read: others may need what the
 * subject does not have.
 */
export function resolveCharge(
  limits: readonly Limit[],
  subject: unknown,
  cost?: number,
  names?: readonly string[],
): MaybePromise<NamedPart[]> {
  const [only] = limits
  if (limits.length === 1 && only !== undefined) {
    const part = resolvePart(only, subject, cost, names)
    return isPromise(part) ? part.then(toList) : toList(part)
  }
  const parts = readAll(limits, (limit) => resolvePart(limit, subject, cost, names))
  return isPromise(parts) ? parts.then(withoutGaps) : withoutGaps(parts)
}

function toList(part: NamedPart | undefined): NamedPart[] {
  return part === undefined ? [] : [part]
}

function withoutGaps(parts: readonly (NamedPart | undefined)[]): NamedPart[] {
  return parts.filter((part) => part !== undefined)
}

type MaybePart = MaybePromise<NamedPart | undefined>

function resolvePart(
  limit: Limit,
  subject: unknown,
  cost: number | undefined,
  names: readonly string[] | undefined,
): MaybePart {
  const policy = limit.readPolicy(subject)
  if (isPromise(policy)) return policy.then((bound) => resolveKey(limit, bound, subject, cost, names))
  return resolveKey(limit, policy, subject, cost, names)
}

function resolveKey(
  limit: Limit,
  bound: BoundPolicy | undefined,
  subject: unknown,
  cost: number | undefined,
  names: readonly string[] | undefined,
): MaybePart {
  if (bound === undefined || names?.includes(bound.name) === false) return undefined
  const identity = limit.readIdentity(subject)
  if (isPromise(identity)) return identity.then((known) => resolveCost(limit, bound, known, subject, cost))
  return resolveCost(limit, bound, identity, subject, cost)
}

function resolveCost(
  limit: Limit,
  { policy, keyAtRest, name }: BoundPolicy,
  identity: string | undefined,
  subject: unknown,
  cost: number | undefined,
): MaybePart {
  if (identity === undefined) return undefined
  const key = keyAtRest(identity)
  const units = cost ?? limit.readCost(subject)
  if (isPromise(units)) return units.then((known) => ({ key, policy, cost: known, name }))
  return { key, policy, cost: units, name }
}
