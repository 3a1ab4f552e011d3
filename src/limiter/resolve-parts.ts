import { type IdentityOptions, identityReader } from '../keys/identity.js'
import { IDENTITY_END, IDENTITY_START } from '../keys/identity-braces.js'
import type { KeyFunction } from '../keys/key-types.js'
import type { AddressReader } from '../keys/source-address.js'
import { type Policy, signatureOf } from '../policies/policy.js'
import { keyCodeOf, resetsOnChange } from '../policies/spec.js'
import { type MaybePromise, readAll, thenMaybe } from '../util/maybe-promise.js'
import { weakMemo } from '../util/memo.js'
import { keyName } from '../util/validate.js'
import { warnOnce } from '../util/warn-once.js'
import { callPolicy, checkPolicy, checkResolved, type Entry } from './read-limits.js'
import type { NamedPart } from './receipt.js'

/** A limit: a policy with its name and the scope of its keys. */
export interface Limit {
  readonly name: string
  readonly policy: Policy
  /** What keys have before the identity. Ends with `IDENTITY_START`. */
  readonly scope: string
}

/** Returns the part of a charge for one limit and identity. */
export function partOf({ name, policy, scope }: Limit, identity: string, cost: number): NamedPart {
  return { key: scope + identity + IDENTITY_END, policy, cost, name, scope, identity }
}

/** What a limiter provides to its limits. */
export interface LimitContext extends IdentityOptions {
  /** What every key of the limiter starts with. */
  readonly limiterScope: string
  readonly name: string | undefined
  /** Reads the address of a subject, as the keys do. */
  readonly reader: AddressReader
  /** The key function of limits without one. */
  readonly usualKey: KeyFunction<unknown>
  /** Throws a `TypeError` for a policy that is not supported here. */
  readonly checkSupported?: (owner: string, policy: Policy) => void
  /**
   * The limits used so far, each once. Several may share a scope, such as the plans of a policy function.
   */
  readonly limits: Map<string, Limit>
  /** Called when a limit has been recorded in `limits`. */
  readonly onBound?: (() => void) | undefined
}

/** The most limits that are recorded. A policy function may return a new policy for each client. */
const MAX_RECORDED = 64

/** What a charge resolves to in place of parts if settings block its subject. */
export const BLOCKED: readonly NamedPart[] = []

/**
 * Returns the parts of a charge: one for each limit that applies to the subject. `cost` replaces the cost of
 * each limit. With `names`, reads only the keys of those limits: the subject may lack what the others need.
 */
export type ResolveParts = (
  subject: unknown,
  cost?: number,
  names?: readonly string[],
) => MaybePromise<readonly NamedPart[]>

/**
 * Creates the function that resolves the charges of one limit. Its key is not read if the limit does not
 * apply.
 */
function limitResolver(entry: Entry, context: LimitContext): ResolveParts {
  const { entryName, policy, key = [context.usualKey], cost: limitCost = 1, skip } = entry
  const readIdentity = identityReader(key, context)

  const bind = weakMemo((resolvedPolicy: object): ResolveParts => {
    const limit = limitOf(entry, context, resolvedPolicy)
    return function resolveLimit(subject, cost, names) {
      if (names?.includes(limit.name) === false) return []
      return resolvePart(limit, readIdentity(subject), cost ?? limitCost, subject)
    }
  })

  const resolve: ResolveParts =
    typeof policy !== 'function'
      ? bind(policy)
      : (subject, cost, names) =>
          thenMaybe(callPolicy(entry.owner, policy, subject), (given) =>
            bind(checkResolved(entry.owner, given))(subject, cost, names),
          )
  if (skip === undefined) return resolve
  return (subject, cost, names) => {
    if (entryName !== undefined && names?.includes(entryName) === false) return []
    return thenMaybe(skip(subject), (isSkipped) => (isSkipped ? [] : resolve(subject, cost, names)))
  }
}

/** Returns the part of a charge for one limit, as a list that is empty if the subject has no identity. */
export function resolvePart(
  limit: Limit,
  identity: MaybePromise<string | undefined>,
  cost: number | ((subject: unknown) => MaybePromise<number>),
  subject: unknown,
): MaybePromise<readonly NamedPart[]> {
  if (typeof identity === 'string' && typeof cost === 'number') return [partOf(limit, identity, cost)]
  return thenMaybe(identity, (resolved) => {
    if (resolved === undefined) return []
    const units = typeof cost === 'number' ? cost : cost(subject)
    return thenMaybe(units, (resolvedUnits) => [partOf(limit, resolved, resolvedUnits)])
  })
}

/** Returns what the keys of a limit start with, whatever its policy is. */
export function entryScope({ entryName }: Entry, { limiterScope }: LimitContext): string {
  return entryName === undefined ? limiterScope : `${limiterScope}/${entryName}`
}

/** Returns the limit of a policy. Throws a `TypeError` for a value that is not a policy. */
export function limitOf(entry: Entry, context: LimitContext, value: object): Limit {
  const { owner, entryName } = entry
  const { name, checkSupported, limits, onBound } = context
  const policy = checkPolicy(owner, value)
  checkSupported?.(owner, policy)
  const limit = {
    name: entryName ?? name ?? keyName(owner, 'policy.name', policy.name),
    policy,
    scope: `${entryScope(entry, context)}:${keyCodeOf(policy.spec)}${IDENTITY_START}`,
  }
  warnFreshStart(owner, limit, limits.values())
  const id = `${limit.name} ${limit.scope} ${signatureOf(policy)}`
  if (limits.size >= MAX_RECORDED) return limit
  limits.set(id, limit)
  onBound?.()
  return limit
}

/**
 * Warns the operator, once for each limit, if the limit has changed to a sliding window under which its clients
 * start afresh. `limits` are the limits used so far.
 */
export function warnFreshStart(owner: string, { name, scope, policy }: Limit, limits: Iterable<Limit>): void {
  if (policy.spec.kind !== 'sliding-window' || resetsOnChange(policy.spec)) return
  for (const other of limits) {
    if (other.name !== name || other.scope === scope || other.policy.spec.kind !== 'sliding-window') continue
    const what = `${owner}: the limit ${name} now has another window or number of slices`
    const effect = 'A client whose policy changes starts with a fresh quota'
    warnOnce('HEADGATE_USAGE_RESET', `${what}. ${effect}. Undo the change, or accept the fresh start.`, name)
    return
  }
}

/** Creates the functions that resolve the subjects of limits without settings. */
export function resolversOf(entries: readonly Entry[], context: LimitContext) {
  const resolveParts = partsResolver(entries, context)
  return {
    /** Returns the parts of a charge: none for an exempt subject, and `BLOCKED` for a blocked one. */
    resolveCharge: resolveParts,
    /** Returns the parts of a subject even if it is exempt or blocked. Adjustments use it. */
    resolveParts,
  }
}

function partsResolver(entries: readonly Entry[], context: LimitContext): ResolveParts {
  const resolvers = entries.map((entry) => limitResolver(entry, context))
  const [resolveOnly, ...others] = resolvers
  if (resolveOnly !== undefined && others.length === 0) return resolveOnly
  return (subject, cost, names) => {
    const parts = readAll(resolvers, (resolveParts) => resolveParts(subject, cost, names))
    return thenMaybe(parts, (all) => all.flat())
  }
}
