import { addressReaderAmong } from '../keys/address-use.js'
import { addressKey, defaultKey } from '../keys/by-ip.js'
import { identityReader } from '../keys/identity.js'
import { signatureOf } from '../policies/policy.js'
import { isPromise, type MaybePromise, readAll, thenMaybe } from '../util/maybe-promise.js'
import { weakMemo } from '../util/memo.js'
import { keyName } from '../util/validate.js'
import type { NamedPart } from './decision.js'
import { checkPolicy, type Entry } from './parse-limits.js'

/**
 * Returns the parts of a charge: one for each limit that applies to the subject. `cost` replaces the limits'
 * own cost. With `names`, only the keys of the limits of these names are read: others may need what the
 * subject does not have.
 */
export type ResolveCharge = (
  subject: unknown,
  cost?: number,
  names?: readonly string[],
) => MaybePromise<NamedPart[]>

/** What limits get from the limiter that they belong to. */
interface LimitContext {
  readonly keyHead: string
  readonly name: string | undefined
  readonly secret: string | undefined
}

/** Creates the function that resolves the charges of a limiter. Malformed keys count by address. */
export function chargeResolver(entries: readonly Entry[], context: LimitContext): ResolveCharge {
  const readAddress = addressKey(addressReaderAmong(entries))
  const resolvers = entries.map((entry) => partResolver(entry, readAddress, context))
  const [only] = resolvers
  if (only !== undefined && resolvers.length === 1)
    return (subject, cost, names) => thenMaybe(only(subject, cost, names), toList)
  return (subject, cost, names) => {
    const parts = readAll(resolvers, (resolvePart) => resolvePart(subject, cost, names))
    return thenMaybe(parts, (all) => all.filter((part) => part !== undefined))
  }
}

function toList(part: NamedPart | undefined): NamedPart[] {
  return part === undefined ? [] : [part]
}

type MaybePart = MaybePromise<NamedPart | undefined>

/** Creates the function that resolves the part of one limit; `undefined` where the limit does not apply. */
function partResolver(
  entry: Entry,
  readAddress: (subject: unknown) => string,
  context: LimitContext,
): (...args: Parameters<ResolveCharge>) => MaybePart {
  const { policy, key = [defaultKey()], cost: readCost = () => 1 } = entry
  const readIdentity = identityReader(key, readAddress, context.secret)
  const bind = policyBinder(entry, context)

  function resolvePart(
    bound: BoundPolicy,
    subject: unknown,
    cost?: number,
    names?: readonly string[],
  ): MaybePart {
    if (names?.includes(bound.name) === false) return undefined
    const identity = readIdentity(subject)
    if (isPromise(identity)) return identity.then((known) => resolveCost(bound, subject, known, cost))
    return resolveCost(bound, subject, identity, cost)
  }

  function resolveCost(bound: BoundPolicy, subject: unknown, identity?: string, cost?: number): MaybePart {
    if (identity === undefined) return undefined
    const units = cost ?? readCost(subject)
    if (isPromise(units)) return units.then((known) => partOf(bound, identity, known))
    return partOf(bound, identity, units)
  }

  if (typeof policy === 'function')
    return (subject, cost, names) =>
      thenMaybe(policy(subject), (given) =>
        given === undefined ? undefined : resolvePart(bind(given as object), subject, cost, names),
      )
  const only = bind(policy)
  return (subject, cost, names) => resolvePart(only, subject, cost, names)
}

/** A policy with the name of its limit and the beginning of its keys. */
type BoundPolicy = ReturnType<ReturnType<typeof policyBinder>>

function policyBinder({ owner, entryName }: Entry, context: LimitContext) {
  const head = entryName === undefined ? context.keyHead : `${context.keyHead}/${entryName}`
  return weakMemo((given: object) => {
    const policy = checkPolicy(owner, given)
    const name = entryName ?? context.name ?? keyName(owner, 'policy.name', policy.name)
    return { name, policy, prefix: `${head}:${signatureOf(policy)}` }
  })
}

function partOf({ name, policy, prefix }: BoundPolicy, identity: string, cost: number): NamedPart {
  return { key: `${prefix}:{${identity}}`, policy, cost, name } // the braces are a Redis Cluster hash tag
}
