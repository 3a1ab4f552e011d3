import { given, keyName, knownOptions, show, wholeNumber, wrongOption } from './checks.js'
import { durationMs } from './durations.js'
import { defaultKey, readerOf, sourceIdentity } from './keys/by-ip.js'
import { type IdentityReader, identityReader } from './keys/identity.js'
import type { KeyFunction } from './keys/key.js'
import { keysAtRest } from './keys/key-at-rest.js'
import { addressReader } from './keys/source-address.js'
import { type MaybePromise, whenKnown } from './maybe-promise.js'
import type { LimiterOptions, LimitOptions } from './options.js'
import { isPolicy, type Policy, signatureOf } from './policies/policy.js'
import { tokenBucket } from './policies/token-bucket.js'

/** A policy with all that depends on it alone. */
export interface BoundPolicy {
  readonly policy: Policy
  readonly keyAtRest: (identity: string) => string
  readonly name: string
}

/** One limit, read: what it needs from a subject, as functions. */
export interface Limit {
  readonly readPolicy: (subject: unknown) => MaybePromise<BoundPolicy | undefined>
  readonly readIdentity: IdentityReader
  readonly readCost: (subject: unknown) => MaybePromise<number>
}

/** What reading a limit needs of the limiter that it belongs to. */
export interface LimitContext {
  readonly keyHead: string
  readonly secret: string | undefined
  readonly source: (subject: unknown) => string
}

/** A limit as it was written, and who speaks in errors about it; `entryName` is set where it is one of several. */
export interface Entry {
  readonly owner: string
  readonly entryName: string | undefined
  readonly policy: unknown
  readonly key: unknown
  readonly cost: unknown
}

export function readLimit(
  { keyHead, secret, source }: LimitContext,
  { owner, entryName, policy, cost }: Entry,
  keys: readonly KeyFunction[],
  limiterName: string | undefined,
): Limit {
  const head = entryName === undefined ? keyHead : `${keyHead}/${entryName}`
  return {
    readPolicy: policyReader(owner, head, policy, entryName ?? limiterName),
    readIdentity: identityReader(keys, source, secret),
    readCost: costReader(owner, given(cost, 1)),
  }
}

export function readEntries<Subject>(owner: string, options: LimiterOptions<Subject>): Entry[] {
  if (options.limits !== undefined) return readSeveral(owner, options, options.limits)
  const { key, cost } = options
  return [{ owner, entryName: undefined, policy: readSinglePolicy(owner, options), key, cost }]
}

function readSinglePolicy<Subject>(
  owner: string,
  options: LimiterOptions<Subject>,
): LimitOptions<Subject>['policy'] {
  const { limit, window, policy } = options
  if (policy !== undefined) {
    if (limit === undefined && window === undefined) return policy
    throw new TypeError(
      `${owner}: give either limit and window, or policy, not both. Put the numbers into the policy.`,
    )
  }
  if (limit === undefined && window === undefined) {
    throw new TypeError(
      `${owner}: there is no limit. Give limit and window, such as { limit: 100, window: '1m' }.`,
    )
  }
  const capacity = wholeNumber(owner, 'limit', limit)
  if (window === undefined)
    throw wrongOption(owner, 'window', 'given with limit', window, "Did you mean window: '1m'?")
  return readBucket(owner, capacity, window)
}

function readBucket(owner: string, capacity: number, window: unknown): Policy {
  const every = durationMs(owner, 'window', window)
  try {
    return tokenBucket({ capacity, refill: capacity, every })
  } catch (error) {
    const { message } = error as TypeError // speaks of the bucket's refill and capacity, which are called limit here
    throw new TypeError(message.replace(/tokenBucket: (refill|capacity)/, `${owner}: limit`))
  }
}

function readSeveral<Subject>(owner: string, options: LimiterOptions<Subject>, limits: unknown): Entry[] {
  for (const option of ['limit', 'window', 'policy', 'key', 'cost'] as const) {
    if (options[option] === undefined) continue
    throw new TypeError(`${owner}: ${option} does not go with limits. Put it into each entry of limits.`)
  }
  if (!Array.isArray(limits) || limits.length === 0 || limits.length > 16) {
    throw wrongOption(owner, 'limits', 'an array of 1 to 16 limits', limits, 'Write { name, policy, key }.')
  }
  const seen = new Set<string>()
  return Array.from(limits, (entry: LimitOptions<Subject>, i) => {
    const entryOwner = `${owner}: limits[${i}]`
    knownOptions(entryOwner, entry, ['name', 'policy', 'key', 'cost'], { limit: 'policy', window: 'policy' })
    const fallback = isPolicy(entry.policy) ? entry.policy.name : `limit-${i + 1}`
    const entryName = keyName(entryOwner, 'name', given(entry.name, fallback))
    if (seen.has(entryName)) {
      throw new TypeError(`${entryOwner}: there are two limits called ${show(entryName)}. Give each a name.`)
    }
    seen.add(entryName)
    return { owner: entryOwner, entryName, policy: entry.policy, key: entry.key, cost: entry.cost }
  })
}

/** The key functions of an option that holds one, several or none. */
export function readKeys(owner: string, key: unknown): readonly KeyFunction[] {
  if (key === undefined) return [defaultKey() as KeyFunction]
  const keys: unknown[] = Array.isArray(key) ? [...key] : [key]
  if (keys.length > 0 && keys.length <= 8 && keys.every((each) => typeof each === 'function'))
    return keys as KeyFunction[]
  throw wrongOption(
    owner,
    'key',
    'a function, or an array of 1 to 8 functions',
    key,
    'Did you mean key: byIp()?',
  )
}

/** Tells whose malformed input it is: by the address, read as the first key that reads one was told to. */
export function sourceOf(owner: string, keys: readonly KeyFunction[]): (subject: unknown) => string {
  const read = keys.map(readerOf).find((reader) => reader !== undefined) ?? addressReader(owner, undefined)
  return (subject) => sourceIdentity(read(subject))
}

function policyReader(
  owner: string,
  keyHead: string,
  policy: unknown,
  name: string | undefined,
): Limit['readPolicy'] {
  const bound = new WeakMap<Policy, BoundPolicy>()
  function bind(value: unknown): BoundPolicy {
    if (!isPolicy(value)) {
      throw wrongOption(
        owner,
        'policy',
        'a policy',
        value,
        "Did you mean tokenBucket({ capacity: 100, refill: 100, every: '1m' })?",
      )
    }
    const known = bound.get(value)
    if (known !== undefined) return known
    keyName(owner, 'policy.kind', value.kind)
    const fresh = {
      policy: value,
      keyAtRest: keysAtRest(`${keyHead}:${signatureOf(value)}`),
      name: name ?? keyName(owner, 'policy.name', value.name),
    }
    bound.set(value, fresh)
    return fresh
  }
  if (typeof policy !== 'function') {
    const only = bind(policy)
    return () => only
  }
  return (subject) => whenKnown(policy(subject), (value) => (value === undefined ? undefined : bind(value)))
}

function costReader(owner: string, cost: unknown): Limit['readCost'] {
  if (typeof cost !== 'function') {
    const units = checkedCost(owner, cost)
    return () => units
  }
  return (subject) => whenKnown(cost(subject), (units) => checkedCost(owner, units))
}

/** Checks a cost: a whole number of units. Half units are no option: counters at rest are whole. */
export function checkedCost(owner: string, cost: unknown): number {
  return wholeNumber(owner, 'cost', cost, 0, Number.MAX_SAFE_INTEGER, 1)
}
