import { defaultKey } from '../keys/by-ip.js'
import { type IdentityOptions, identityReader } from '../keys/identity.js'
import { type Policy, signatureOf } from '../policies/policy.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { weakMemo } from '../util/memo.js'
import { keyName } from '../util/validate.js'
import { checkPolicy, type Entry } from './parse-limits.js'
import type { NamedPart } from './receipt.js'

/** A limit: a policy with its name. Its keys have their identity in braces, a Redis Cluster hash tag. */
export interface Limit {
  readonly name: string
  readonly policy: Policy
  readonly scope: string
}

/** The end of every limiter's key. */
export const KEY_END = '}'

/** Returns what a limit takes from the key of an identity. */
export function partOf({ name, policy, scope }: Limit, identity: string, cost: number): NamedPart {
  return { key: scope + identity + KEY_END, policy, cost, name, scope, identity }
}

/** What limits get from the limiter that they belong to. */
export interface LimitContext extends IdentityOptions {
  readonly keyHead: string
  readonly name: string | undefined
  /** Throws a `TypeError` for a policy that is not supported here. */
  readonly checkKept?: (owner: string, policy: Policy) => void
  /** Where limits are recorded by the scope of their keys. */
  readonly known: Map<string, Limit>
}

/** A function may return a policy of its own for each client: so many limits are recorded. */
const MAX_KNOWN = 64

/** Uses what was read of a subject for one limit. */
type Use<T> = (identity: string, cost: number, subject: unknown) => MaybePromise<T>

/** Reads a subject for one limit. `cost` replaces the limit's own. */
type Read<T> = (subject: unknown, cost?: number, names?: readonly string[]) => MaybePromise<T | undefined>

/**
 * Creates the function that reads the identity and the cost of a subject for one limit, passes them to the
 * function that `prepare` returned, and returns its result. The created function returns `undefined` if the
 * limit does not apply, or if `names` are given and the limit's is not among them; no key is read then.
 */
export function limitBinder<T>(
  entry: Entry,
  context: LimitContext,
  prepare: (limit: Limit) => Use<T>,
): Read<T> {
  const { policy, key = [defaultKey()], cost: limitCost = 1 } = entry
  const readIdentity = identityReader(key, context)

  const bind = weakMemo((given: object): Read<T> => {
    const limit = limitOf(entry, context, given)
    const use = prepare(limit)
    return function readLimit(subject, chargeCost, names) {
      if (names?.includes(limit.name) === false) return undefined
      const cost = chargeCost ?? limitCost
      const identity = readIdentity(subject)
      if (typeof identity === 'string' && typeof cost === 'number') return use(identity, cost, subject)
      return thenMaybe(identity, (known) => {
        if (known === undefined) return undefined
        const units = typeof cost === 'number' ? cost : cost(subject)
        return thenMaybe(units, (checked) => use(known, checked, subject))
      })
    }
  })

  if (typeof policy !== 'function') return bind(policy)
  return (subject, cost, names) =>
    thenMaybe(policy(subject), (given) => {
      return given === undefined ? undefined : bind(given as object)(subject, cost, names)
    })
}

function limitOf(
  { owner, entryName }: Entry,
  { keyHead, name, checkKept, known }: LimitContext,
  given: object,
): Limit {
  const policy = checkPolicy(owner, given)
  checkKept?.(owner, policy)
  const head = entryName === undefined ? keyHead : `${keyHead}/${entryName}`
  const limit = {
    name: entryName ?? name ?? keyName(owner, 'policy.name', policy.name),
    policy,
    scope: `${head}:${signatureOf(policy)}:{`,
  }
  if (known.size < MAX_KNOWN) known.set(limit.scope, limit)
  return limit
}
