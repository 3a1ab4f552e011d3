import { given, keyName, knownOptions, oneOf, show, wholeNumber, wrongOption } from './checks.js'
import { type Duration, durationMs } from './durations.js'
import type { StoreError } from './errors.js'
import { defaultKey, readerOf, sourceIdentity } from './keys/by-ip.js'
import { type IdentityReader, identityReader } from './keys/identity.js'
import type { KeyFunction } from './keys/key.js'
import { keysAtRest } from './keys/key-at-rest.js'
import { addressReader } from './keys/source-address.js'
import { type MaybePromise, whenKnown } from './maybe-promise.js'
import { isPolicy, type Policy } from './policies/policy.js'
import { tokenBucket } from './policies/token-bucket.js'
import { memoryStore } from './stores/memory-store.js'
import type { Store } from './stores/store.js'

/** What to do with a charge that the store could not decide. */
export type StoreErrorChoice = 'allow' | 'deny' | 'local'

/** One of several limits that are decided together, all or nothing. */
export interface LimitOptions<Subject> {
  /** What headers, events and keys call this limit. Default: the policy's name. */
  name?: string
  /** A policy, or a function that gives one; `undefined` from it = not limited by this limit. */
  policy: Policy | ((subject: Subject) => MaybePromise<Policy | undefined>)
  /** Who is asking: a key maker, or an array of them joined into one identity. Default `byIp()`, for requests. */
  key?: KeyFunction<Subject> | readonly KeyFunction<Subject>[]
  /** What one charge takes, in whole units. Default 1; 0 only looks. */
  cost?: number | ((subject: Subject) => MaybePromise<number>)
}

/** How a limiter is made. Give `limit` and `window`, or a `policy`, or `limits`. */
export interface LimiterOptions<Subject> extends Omit<LimitOptions<Subject>, 'policy'> {
  /** With `window`: a token bucket of this capacity that refills once per window. */
  limit?: number
  window?: Duration
  policy?: LimitOptions<Subject>['policy']
  /** Several limits, decided together: if one denies, none is charged. */
  limits?: readonly LimitOptions<Subject>[]
  /** Where the states live. Default: this process's memory. */
  store?: Store
  /**
   * Names the limiter in keys and headers. Limiters of the same name (and prefix, and policy) on the same store share
   * their state; without a `store`, named limiters share one memory store. An unnamed limiter is alone on its store.
   */
  name?: string
  /** What every key begins with. Default `'hg'`. */
  prefix?: string
  /** Makes the hashes of identities in keys HMAC-SHA-256, addresses included. At least 16 characters. */
  secret?: string
  /**
   * What to do when the store cannot tell: `'allow'` (the default), `'deny'` (the middleware answers 503), `'local'` (a
   * memory store of this process stands in), or a function that says which.
   */
  onStoreError?: StoreErrorChoice | ((error: StoreError, subject: Subject) => MaybePromise<StoreErrorChoice>)
  /** The longest that a charge waits for the store, in milliseconds. Default 100. */
  timeoutMs?: number
}

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

/** A limiter's options, read and checked. */
export interface LimiterSettings {
  readonly limits: readonly Limit[]
  readonly store: Store
  readonly timeoutMs: number
  readonly chooseOnStoreError: (error: StoreError, subject: unknown) => MaybePromise<StoreErrorChoice>
}

export const LIMITER_OPTIONS = [
  'limit',
  'window',
  'policy',
  'limits',
  'key',
  'cost',
  'store',
  'name',
  'prefix',
  'secret',
  'onStoreError',
  'timeoutMs',
] as const

/** Words of other packages, and what to write here. */
export const RENAMED_OPTIONS = {
  windowMs: 'window',
  max: 'limit',
  points: 'limit',
  duration: 'window',
  keyGenerator: 'key',
  keyPrefix: 'prefix',
  storeClient: 'store',
  passOnStoreError: "onStoreError: 'allow'",
  timeout: 'timeoutMs',
} as const

const STATE_VERSION = 1
/** In keys, where a limiter has no name. No name begins with an underscore, and none holds a slash. */
const UNNAMED = '_default'
const CHOICES: readonly StoreErrorChoice[] = ['allow', 'deny', 'local']

/** Reads and checks a limiter's options. Throws a `TypeError` that names the option and the mend. */
export function readLimiterOptions<Subject>(
  owner: string,
  options: LimiterOptions<Subject>,
): LimiterSettings {
  const name = options.name === undefined ? undefined : keyName(owner, 'name', options.name)
  const prefix = keyName(owner, 'prefix', given(options.prefix, 'hg'))
  const secret = readSecret(owner, options.secret)
  const keyHead = `${prefix}:${STATE_VERSION}:${name ?? UNNAMED}`
  const entries = readEntries(owner, options)
  const keys = entries.map((entry) => readKeys(entry.owner, entry.key))
  const context: LimitContext = { keyHead, secret, source: sourceOf(owner, keys.flat()) }
  const limits = entries.map((entry, i) => readLimit(context, entry, keys[i] as readonly KeyFunction[], name))
  const timeoutMs = wholeNumber(owner, 'timeoutMs', given(options.timeoutMs, 100), 1, 60_000)
  const chooseOnStoreError = readChoice(owner, given(options.onStoreError, 'allow'))
  const store = readStore(owner, options.store, name, prefix) // last: only sound options lay claim to a store
  return { limits, store, timeoutMs, chooseOnStoreError }
}

/** What reading a limit needs of the limiter that it belongs to. */
interface LimitContext {
  readonly keyHead: string
  readonly secret: string | undefined
  readonly source: (subject: unknown) => string
}

/** A limit as it was written, and who speaks in errors about it; `entryName` is set where it is one of several. */
interface Entry {
  readonly owner: string
  readonly entryName: string | undefined
  readonly policy: unknown
  readonly key: unknown
  readonly cost: unknown
}

/** Tells whose malformed input it is: by the address, read as the first key that reads one was told to. */
function sourceOf(owner: string, keys: readonly KeyFunction[]): (subject: unknown) => string {
  const read = keys.map(readerOf).find((reader) => reader !== undefined) ?? addressReader(owner, undefined)
  return (subject) => sourceIdentity(read(subject))
}

function readEntries<Subject>(owner: string, options: LimiterOptions<Subject>): Entry[] {
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

function readLimit(
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
    const signature = [keyName(owner, 'policy.kind', value.kind), ...value.params].join('-')
    const fresh = {
      policy: value,
      keyAtRest: keysAtRest(`${keyHead}:${signature}`),
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

function readSecret(owner: string, secret: unknown): string | undefined {
  if (secret === undefined || (typeof secret === 'string' && secret.length >= 16)) return secret
  const isNumber = typeof secret === 'number' || typeof secret === 'bigint' // never show the secret itself
  const shown = typeof secret === 'string' ? `one of ${secret.length}` : isNumber ? 'a number' : show(secret)
  const must = `secret must be a string of at least 16 characters, got ${shown}`
  throw new TypeError(`${owner}: ${must}. Make one with: openssl rand -hex 32.`)
}

function readChoice(owner: string, value: unknown): LimiterSettings['chooseOnStoreError'] {
  const check = (choice: unknown) => oneOf(owner, 'onStoreError', choice, CHOICES)
  if (typeof value === 'function') return (error, subject) => whenKnown(value(error, subject), check)
  const choice = check(value)
  return () => choice
}

/** Named limiters without a store of their own meet here; made when the first one comes. */
let commonStore: Store | undefined
/** Which prefixes of a store are taken by a limiter without a name. */
const unnamedOn = new WeakMap<Store, Set<string>>()

function readStore(owner: string, store: unknown, name: string | undefined, prefix: string): Store {
  if (store === undefined) {
    if (name === undefined) return memoryStore()
    commonStore ??= memoryStore()
    return commonStore
  }
  if (!isStore(store))
    throw wrongOption(owner, 'store', 'a store', store, 'Did you mean store: memoryStore()?')
  if (name === undefined) claim(owner, store, prefix)
  return store
}

function isStore(value: unknown): value is Store {
  if (typeof value !== 'object' || value === null) return false
  const { name, charge, refund, forget } = value as Partial<Store>
  return typeof name === 'string' && [charge, refund, forget].every((method) => typeof method === 'function')
}

function claim(owner: string, store: Store, prefix: string): void {
  const taken = unnamedOn.get(store) ?? new Set()
  if (taken.has(prefix)) {
    throw new TypeError(
      `${owner}: this store already serves a limiter without a name, and a second one would count the same requests ` +
        "into the same keys. Give each limiter a name, such as name: 'login'.",
    )
  }
  unnamedOn.set(store, taken.add(prefix))
}
