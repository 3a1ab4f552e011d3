import { isPromise, type MaybePromise, readAll, thenMaybe } from '../util/maybe-promise.js'
import type { NamedPart } from './decision.js'
import type { BoundPolicy, Limit } from './parse-limits.js'

/** Returns the parts of a charge: one for each limit that applies to this subject. */
export function readParts(
  limits: readonly Limit[],
  subject: unknown,
  cost: number | undefined,
): MaybePromise<NamedPart[]> {
  const only = limits[0]
  if (limits.length === 1 && only !== undefined) {
    const part = readPart(only, subject, cost)
    return isPromise(part) ? part.then(asList) : asList(part)
  }
  return thenMaybe(
    readAll(limits, (limit) => readPart(limit, subject, cost)),
    (parts) => parts.filter((part) => part !== undefined),
  )
}

/**
 * Returns what names a subject's states, for a `forget`. The keys of limits that are not in `names` are not
 * read: they may need what this subject does not have.
 */
export function readForgotten(
  limits: readonly Limit[],
  subject: unknown,
  names: readonly string[] | undefined,
): MaybePromise<NamedPart[]> {
  if (names === undefined) return readParts(limits, subject, 0)
  return readParts(
    limits.map((limit) => named(limit, names)),
    subject,
    0,
  )
}

/** The same limit, but for subjects for whom it has another name. */
function named(limit: Limit, names: readonly string[]): Limit {
  const isNamed = (bound: BoundPolicy | undefined) =>
    bound && names.includes(bound.name) ? bound : undefined
  return { ...limit, readPolicy: (subject) => thenMaybe(limit.readPolicy(subject), isNamed) }
}

function asList(part: NamedPart | undefined): NamedPart[] {
  return part === undefined ? [] : [part]
}

function readPart(
  limit: Limit,
  subject: unknown,
  cost: number | undefined,
): MaybePromise<NamedPart | undefined> {
  const policy = limit.readPolicy(subject)
  if (isPromise(policy)) return policy.then((bound) => readIdentified(limit, bound, subject, cost))
  return readIdentified(limit, policy, subject, cost)
}

function readIdentified(
  limit: Limit,
  bound: BoundPolicy | undefined,
  subject: unknown,
  cost: number | undefined,
): MaybePromise<NamedPart | undefined> {
  if (bound === undefined) return undefined
  const identity = limit.readIdentity(subject)
  if (isPromise(identity)) return identity.then((known) => readPriced(limit, bound, known, subject, cost))
  return readPriced(limit, bound, identity, subject, cost)
}

function readPriced(
  limit: Limit,
  { policy, keyAtRest, name }: BoundPolicy,
  identity: string | undefined,
  subject: unknown,
  cost: number | undefined,
): MaybePromise<NamedPart | undefined> {
  if (identity === undefined) return undefined
  const key = keyAtRest(identity)
  const units = cost ?? limit.readCost(subject)
  if (isPromise(units)) return units.then((known) => ({ key, policy, cost: known, name }))
  return { key, policy, cost: units, name }
}
