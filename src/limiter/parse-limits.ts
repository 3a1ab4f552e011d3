import { addressReaderAmong } from '../keys/address-key.js'
import { defaultKey } from '../keys/by-ip.js'
import { type IdentityReader, identityReader } from '../keys/identity.js'
import type { KeyFunction } from '../keys/key.js'
import type { AddressReader } from '../keys/source-address.js'
import { storageKeys } from '../keys/storage-key.js'
import { entryHint } from '../options/hints/entry-hint.js'
import { optional, readOptions } from '../options/option-table.js'
import { readTogether } from '../options/problems.js'
import { isPolicy, type Policy, signatureOf } from '../policies/policy.js'
import { tokenBucket } from '../policies/token-bucket.js'
import { windowMs } from '../util/durations.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { keyName, show, wholeNumber, wrongKind, wrongOption } from '../util/validate.js'

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
  /** The share of each policy by which this process decides while the store is down. */
  readonly share: number
}

/** A limit as it was written and checked; `entryName` is set where it is one of several. */
export interface Entry {
  readonly owner: string
  readonly entryName: string | undefined
  readonly policy: GivenPolicy
  readonly keys: readonly KeyFunction[]
  readonly readCost: Limit['readCost']
}

/** A policy, or a function that gives one. */
export type GivenPolicy = Policy | ((subject: unknown) => MaybePromise<unknown>)

/** What is read of the options from which a limiter's limits are made. */
export interface LimitSettings {
  readonly limit: number | undefined
  readonly window: number | undefined
  readonly policy: GivenPolicy | undefined
  readonly limits: readonly Entry[] | undefined
  readonly key: readonly KeyFunction[] | undefined
  readonly cost: Limit['readCost'] | undefined
}

/** How the options are read from which a limiter's limits are made. */
export const LIMIT_ROWS = {
  limit: optional(wholeNumber),
  window: optional(windowMs),
  policy: optional(readPolicy),
  limits: optional(readSeveral),
  key: optional(readKeys),
  cost: optional(readCost),
}

/** Makes the limits from these options together. */
export const ENTRIES_RULE = {
  from: ['limit', 'window', 'policy', 'limits', 'key', 'cost'],
  read(owner: string, settings: LimitSettings): readonly Entry[] {
    const { limits, key, cost } = settings
    if (limits === undefined)
      return [entryOf(owner, undefined, { policy: readSinglePolicy(owner, settings), key, cost })]
    for (const option of ['limit', 'window', 'policy', 'key', 'cost'] as const) {
      if (settings[option] === undefined) continue
      throw new TypeError(`${owner}: ${option} does not go with limits. Put it into each entry of limits.`)
    }
    return limits
  },
} as const

/** How one of several limits is read. */
const ENTRY = {
  rows: { name: optional(keyName), policy: readPolicy, key: LIMIT_ROWS.key, cost: LIMIT_ROWS.cost },
  hint: entryHint,
}

/** Binds a limit to the keys and the name of its limiter. */
export function bindLimit(
  { keyHead, secret, source, share }: LimitContext,
  { owner, entryName, policy, keys, readCost }: Entry,
  limiterName: string | undefined,
): Limit {
  const head = entryName === undefined ? keyHead : `${keyHead}/${entryName}`
  return {
    readPolicy: policyReader(owner, head, policy, entryName ?? limiterName, share),
    readIdentity: identityReader(keys, source, secret),
    readCost,
  }
}

function entryOf(
  owner: string,
  entryName: string | undefined,
  { policy, key, cost }: Pick<LimitSettings, 'key' | 'cost'> & { policy: GivenPolicy },
): Entry {
  const keys = key ?? [defaultKey() as KeyFunction]
  return { owner, entryName, policy, keys, readCost: cost ?? (() => 1) }
}

function readSinglePolicy(owner: string, { limit, window, policy }: LimitSettings): GivenPolicy {
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

function readBucket(owner: string, capacity: number, every: number): Policy {
  try {
    return tokenBucket({ capacity, refill: capacity, every })
  } catch (error) {
    const { message } = error as TypeError // speaks of the bucket's refill and capacity, which are called limit here
    throw new TypeError(message.replace(/tokenBucket: (refill|capacity)/, `${owner}: limit`))
  }
}

function readSeveral(owner: string, option: string, limits: unknown): readonly Entry[] {
  if (!Array.isArray(limits) || limits.length === 0 || limits.length > 16) {
    throw wrongOption(owner, option, 'an array of 1 to 16 limits', limits, 'Write { name, policy, key }.')
  }
  const entries = readTogether<Entry[]>(
    owner,
    ...Array.from(limits, (entry: object, i) => () => readEntry(`${owner}: ${option}[${i}]`, entry, i)),
  )
  const seen = new Set<string | undefined>()
  for (const { owner, entryName } of entries) {
    if (seen.has(entryName))
      throw new TypeError(`${owner}: there are two limits called ${show(entryName)}. Give each a name.`)
    seen.add(entryName)
  }
  return entries
}

function readEntry(owner: string, entry: object, i: number): Entry {
  const settings = readOptions(owner, entry, ENTRY)
  return entryOf(owner, settings.name ?? defaultName(owner, settings.policy, i), settings)
}

function defaultName(owner: string, policy: GivenPolicy, i: number): string {
  return isPolicy(policy) ? keyName(owner, 'name', policy.name) : `limit-${i + 1}`
}

/** The key functions of an option that holds one or several. */
function readKeys(owner: string, option: string, key: unknown): readonly KeyFunction[] {
  const keys: unknown[] = Array.isArray(key) ? [...key] : [key]
  if (keys.length > 0 && keys.length <= 8 && keys.every((each) => typeof each === 'function'))
    return keys as KeyFunction[]
  const must = 'a function, or an array of 1 to 8 functions'
  throw wrongKind(owner, option, must, key, 'Did you mean key: byIp()?')
}

/** Returns how the source address of a subject is read: as the first key that reads one does. */
export function addressReaderOf(owner: string, entries: readonly Entry[]): AddressReader {
  return addressReaderAmong(
    owner,
    entries.flatMap(({ keys }) => keys),
  )
}

/** Checks a policy, or takes a function that gives one: what it gives is checked when it does. */
function readPolicy(owner: string, _option: string, value: unknown): GivenPolicy {
  return typeof value === 'function' ? (value as GivenPolicy) : checkedPolicy(owner, value)
}

function checkedPolicy(owner: string, value: unknown): Policy {
  if (!isPolicy(value)) {
    const mend = "Did you mean tokenBucket({ capacity: 100, refill: 100, every: '1m' })?"
    throw wrongOption(owner, 'policy', 'a policy', value, mend)
  }
  keyName(owner, 'policy.kind', value.kind)
  return value
}

function policyReader(
  owner: string,
  keyHead: string,
  policy: GivenPolicy,
  name: string | undefined,
  share: number,
): Limit['readPolicy'] {
  const bound = new WeakMap<Policy, BoundPolicy>()
  function bind(value: unknown): BoundPolicy {
    const known = bound.get(value as Policy)
    if (known !== undefined) return known
    const checked = checkedPolicy(owner, value)
    if (share < 1) checkShare(owner, checked, share)
    const fresh = {
      policy: checked,
      keyAtRest: storageKeys(`${keyHead}:${signatureOf(checked)}`),
      name: name ?? keyName(owner, 'policy.name', checked.name),
    }
    bound.set(checked, fresh)
    return fresh
  }
  if (typeof policy !== 'function') {
    const only = bind(policy)
    return () => only
  }
  return (subject) => thenMaybe(policy(subject), (value) => (value === undefined ? undefined : bind(value)))
}

/** Throws for a share at which the policy cannot be kept: now, and not first in an outage. */
function checkShare(owner: string, policy: Policy, share: number): void {
  try {
    policy.scaled(share)
  } catch {
    throw new TypeError(
      `${owner}: share: ${share} of ${policy.name} is a rate that a token bucket cannot keep within 0.2 %. ` +
        'Use another share, or slidingWindow, which keeps any rate exactly.',
    )
  }
}

function readCost(owner: string, _option: string, cost: unknown): Limit['readCost'] {
  if (typeof cost !== 'function') {
    const units = checkedCost(owner, cost)
    return () => units
  }
  return (subject) => thenMaybe(cost(subject), (units) => checkedCost(owner, units))
}

/** Checks a cost: a whole number of units. Half units are no option: counters at rest are whole. */
export function checkedCost(owner: string, cost: unknown): number {
  return wholeNumber(owner, 'cost', cost, 0, Number.MAX_SAFE_INTEGER, 1)
}
