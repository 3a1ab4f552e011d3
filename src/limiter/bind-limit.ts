import { type IdentityOptions, identityReader } from '../keys/identity.js'
import { peerAddress } from '../keys/request.js'
import { defaultKey } from '../keys/source-address.js'
import { type Policy, signatureOf } from '../policies/policy.js'
import { type MaybePromise, readAll, thenMaybe } from '../util/maybe-promise.js'
import { weakMemo } from '../util/memo.js'
import { keyName } from '../util/validate.js'
import { type Decision, denyDisconnected, type Finish } from './decision.js'
import { checkPolicy, type Entry } from './read-limits.js'
import type { NamedPart } from './receipt.js'

/** A limit: a policy with its name. Its keys have their identity in braces, a Redis Cluster hash tag. */
export interface Limit {
  readonly name: string
  readonly policy: Policy
  readonly scope: string
}

/** The end of every limiter's key. */
export const KEY_END = '}'

/** Returns the part of a charge for one limit and identity. */
export function partOf({ name, policy, scope }: Limit, identity: string, cost: number): NamedPart {
  return { key: scope + identity + KEY_END, policy, cost, name, scope, identity }
}

/** What a limiter provides to its limits. */
export interface LimitContext extends IdentityOptions {
  readonly keyHead: string
  readonly name: string | undefined
  /** Throws a `TypeError` for a policy that is not supported here. */
  readonly checkSupported?: (owner: string, policy: Policy) => void
  /** The limits used so far, by the scope of their keys. */
  readonly limitsByScope: Map<string, Limit>
}

/** The most limits that are recorded. A policy function may return a new policy for each client. */
const MAX_RECORDED = 64

/** Handles the identity and the cost that were read for one limit. */
type Handle<T> = (identity: string, cost: number, subject: unknown) => MaybePromise<T>

/** Reads a subject. `cost` replaces the cost of the limit. */
type ResolvePart<T> = (subject: unknown, cost?: number, names?: readonly string[]) => MaybePromise<T>

/**
 * Creates a function that reads a subject's identity and cost, and passes them to the handler from
 * `prepare`. It returns `none()` if the limit does not apply. If `names` leave out the limit, it reads no
 * key.
 */
export function limitBinder<T>(
  entry: Entry,
  context: LimitContext,
  none: () => T,
  prepare: (limit: Limit) => Handle<T>,
): ResolvePart<T> {
  const { policy, key = [defaultKey()], cost: limitCost = 1 } = entry
  const readIdentity = identityReader(key, context)

  const bind = weakMemo((given: object): ResolvePart<T> => {
    const limit = limitOf(entry, context, given)
    const handle = prepare(limit)
    return function readLimit(subject, chargeCost, names) {
      if (names?.includes(limit.name) === false) return none()
      const cost = chargeCost ?? limitCost
      const identity = readIdentity(subject)
      if (typeof identity === 'string' && typeof cost === 'number') return handle(identity, cost, subject)
      return thenMaybe(identity, (resolvedIdentity) => {
        if (resolvedIdentity === undefined) return none()
        const given = typeof cost === 'number' ? cost : cost(subject)
        return thenMaybe(given, (units) => handle(resolvedIdentity, units, subject))
      })
    }
  })

  if (typeof policy !== 'function') return bind(policy)
  return (subject, cost, names) =>
    thenMaybe(policy(subject), (given) => {
      return given === undefined ? none() : bind(given as object)(subject, cost, names)
    })
}

function limitOf(
  { owner, entryName }: Entry,
  { keyHead, name, checkSupported, limitsByScope }: LimitContext,
  given: object,
): Limit {
  const policy = checkPolicy(owner, given)
  checkSupported?.(owner, policy)
  const head = entryName === undefined ? keyHead : `${keyHead}/${entryName}`
  const limit = {
    name: entryName ?? name ?? keyName(owner, 'policy.name', policy.name),
    policy,
    scope: `${head}:${signatureOf(policy)}:{`,
  }
  if (limitsByScope.size < MAX_RECORDED) limitsByScope.set(limit.scope, limit)
  return limit
}

/**
 * Returns the parts of a charge: one for each limit that applies to the subject. `cost` replaces the limits'
 * own cost. With `names`, only the keys of the limits of these names are read: others may need what the
 * subject does not have.
 */
export type ResolveParts = ResolvePart<readonly NamedPart[]>

/** Creates the function that resolves the charges of a limiter. */
export function partsResolver(entries: readonly Entry[], context: LimitContext): ResolveParts {
  const resolvers = entries.map((entry) =>
    limitBinder<readonly NamedPart[]>(
      entry,
      context,
      () => [],
      (limit) => (identity, cost) => [partOf(limit, identity, cost)],
    ),
  )
  const [resolveOnly, ...others] = resolvers
  if (resolveOnly !== undefined && others.length === 0) return resolveOnly
  return (subject, cost, names) => {
    const parts = readAll(resolvers, (resolveParts) => resolveParts(subject, cost, names))
    return thenMaybe(parts, (all) => all.flat())
  }
}

/** Charges a subject. Throws or rejects with what an option function threw. */
export type ChargeSubject = (
  subject: unknown,
  cost: number | undefined,
  finish: Finish,
) => MaybePromise<Decision>

/**
 * Creates a function that charges a subject: `read` reads it, and `decide` decides by what was read. Denies a
 * request that disconnected before its address was read.
 */
export function subjectCharger<T extends object>(
  read: ResolvePart<T>,
  decide: (value: T, subject: unknown, finish: Finish) => MaybePromise<Decision>,
): ChargeSubject {
  return function readAndDecide(subject, cost, finish) {
    let value: MaybePromise<T>
    try {
      value = read(subject, cost)
    } catch (error) {
      return finish(denyDisconnected(error), subject)
    }
    if (!('then' in value)) return decide(value, subject, finish)
    peerAddress(subject) // reading it makes Node.js cache it
    return (value as Promise<T>).then(
      (later) => decide(later, subject, finish),
      (error) => finish(denyDisconnected(error), subject),
    )
  }
}
