import type { KeyFunction } from '../keys/key-types.js'
import type { Fixes } from '../options/fixes.js'
import { exemption, optional, readOptions, type Settings } from '../options/option-table.js'
import { BESIDE_LIMITS, placementFixes } from '../options/placements.js'
import { readTogether } from '../options/problems.js'
import { isPolicy, type Policy } from '../policies/policy.js'
import { bucketOfLimit } from '../policies/token-bucket.js'
import { durationMs } from '../util/durations.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { keyName, show, whole, wholeNumber, wrongKind, wrongOption, wrongUse } from '../util/validate.js'
import { isFunction, isObject } from '../util/values.js'
import { createHoldingsOf } from './concurrency/held-by-decision.js'

/** A limit in the options, checked. `entryName` is set if it is one of several. */
export interface Entry extends Pick<LimitSettings, 'key' | 'cost'> {
  readonly owner: string
  readonly entryName?: string
  readonly policy: GivenPolicy
  /** Returns whether the limit does not apply to a subject. */
  readonly skip?: LimitSkip | undefined
}

type LimitSkip = (subject: unknown) => MaybePromise<boolean>

/** A policy, or a function that returns one. */
export type GivenPolicy = Policy | ((subject: unknown) => MaybePromise<unknown>)

/** The options that make a limiter's limits. */
export const LIMIT_ROWS = {
  limit: optional(readLimit),
  window: optional(durationMs),
  policy: optional(readPolicy),
  limits: limitsRow(),
  key: optional(readKeys),
  cost: optional(readCost),
}

type LimitSettings = Settings<typeof LIMIT_ROWS>

/** The rule that reads these options together into limits. */
export const ENTRIES_RULE = {
  from: ['limit', 'window', 'policy', 'limits', 'key', 'cost'],
  read(owner: string, settings: LimitSettings): readonly Entry[] {
    const { limits, key, cost } = settings
    if (limits === undefined) return [{ owner, policy: resolvePolicy(owner, settings), key, cost }]
    for (const option of ['limit', 'window', 'policy', 'key', 'cost'] as const) {
      if (settings[option] === undefined) continue
      throw wrongUse(owner, `${option} cannot be combined with limits`, 'Move it into each entry of limits.')
    }
    return limits
  },
} as const

const { limits: _, ...OF_ONE_LIMIT } = LIMIT_ROWS

/** The options of one of several limits. */
const ENTRY_ROWS = { name: optional(keyName), ...OF_ONE_LIMIT, skip: exemption<LimitSkip> }

const ENTRY_FIXES = placementFixes(BESIDE_LIMITS, 'next to limits, not in it')

/** Creates the row for several limits. `fixes` are those for unknown options of a limit. */
/* @__NO_SIDE_EFFECTS__ */
export function limitsRow(fixes?: Fixes) {
  return optional((owner, option, limits) => readEntries(owner, option, limits, { ...fixes, ...ENTRY_FIXES }))
}

/**
 * Returns the names of limits. Returns `undefined` if a name is known only per request: a policy function
 * returns the policy that names the limit.
 */
export function namesOf(entries: readonly Entry[], limiterName: string | undefined): string[] | undefined {
  const names = entries.map(({ entryName, policy }) => {
    return entryName ?? limiterName ?? (isPolicy(policy) ? policy.name : undefined)
  })
  return names.every((name) => name !== undefined) ? names : undefined
}

function readLimit(owner: string, option: string, limit: unknown): number {
  if (isPolicy(limit))
    throw wrongOption(owner, option, 'a whole number', limit, 'Write policy: … instead of limit.')
  if (typeof limit !== 'function') return wholeNumber(owner, option, limit)
  const fix = 'Write policy: (req) => …, which returns the policy for a request.'
  throw wrongOption(owner, option, 'a whole number of at least 1', limit, fix)
}

function resolvePolicy(
  owner: string,
  { limit, window, policy }: Pick<LimitSettings, 'limit' | 'window' | 'policy'>,
): GivenPolicy {
  if (policy !== undefined) {
    if (limit === undefined && window === undefined) return policy
    const problem = 'give either limit and window, or policy, not both'
    throw wrongUse(owner, problem, 'Put the numbers into the policy.')
  }
  if (limit === undefined && window === undefined)
    throw wrongUse(owner, 'no limit is set', "Write limit and window, such as { limit: 100, window: '1m' }.")
  const capacity = wholeNumber(owner, 'limit', limit)
  if (window === undefined)
    throw wrongOption(owner, 'window', 'given with limit', window, "Did you mean window: '1m'?")
  return bucketOfLimit(owner, capacity, window)
}

function readEntries(owner: string, option: string, limits: unknown, fixes: Fixes): readonly Entry[] {
  if (!Array.isArray(limits) || limits.length === 0 || limits.length > 16)
    throw wrongOption(
      owner,
      option,
      'an array of 1 to 16 limits',
      limits,
      "Write limits: [{ name: 'burst', limit: 10, window: '1s' }].",
    )
  const entries = readTogether<Entry[]>(
    owner,
    ...Array.from(
      limits,
      (entry: object, i) => () => readEntry(`${owner}: ${option}[${i}]`, entry, i, fixes),
    ),
  )
  for (const [i, { owner, entryName }] of entries.entries())
    if (entries.findIndex((entry) => entry.entryName === entryName) < i)
      throw wrongUse(owner, `two limits are called ${show(entryName)}`, 'Give each limit its own name.')
  return entries
}

function readEntry(owner: string, entry: object, i: number, fixes: Fixes): Entry {
  const { name, key, cost, skip, ...given } = readOptions(owner, entry, { rows: ENTRY_ROWS, fixes })
  const policy = resolvePolicy(owner, given)
  const defaultName = isPolicy(policy) ? keyName(owner, 'name', policy.name) : `limit-${i + 1}`
  return { owner, entryName: name ?? defaultName, policy, key, cost, skip }
}

function readKeys(owner: string, option: string, key: unknown): readonly KeyFunction<unknown>[] {
  const keys: unknown[] = Array.isArray(key) ? [...key] : [key]
  if (keys.length > 0 && keys.length <= 8 && keys.every(isFunction)) return keys
  const must = 'a function, or an array of 1 to 8 functions'
  throw wrongKind(owner, option, must, key, 'Did you mean key: byIp()?')
}

/** Returns a checked policy, or a function whose result is checked at each charge. */
function readPolicy(owner: string, _option: string, value: unknown): GivenPolicy {
  return isFunction(value) ? value : checkPolicy(owner, value)
}

/** Returns a policy. Throws a `TypeError` for anything else. */
export function checkPolicy(owner: string, value: unknown): Policy {
  if (!isPolicy(value)) {
    const fix = "Did you mean tokenBucket({ capacity: 100, refill: 100, every: '1m' })?"
    throw wrongOption(owner, 'policy', 'a policy', value, fix)
  }
  if (value.holdsUnits && createHoldingsOf(value) === undefined) {
    const fix = 'Write policy: { ...concurrency({ limit: 50 }), … }.'
    throw wrongOption(owner, 'policy', 'made by concurrency if it holds units', value, fix)
  }
  return value
}

/**
 * Calls a policy function. Throws a `TypeError` with a fix if it is a factory such as `tokenBucket`, which
 * takes the subject for its options.
 */
export function callPolicy(owner: string, policy: (subject: unknown) => unknown, subject: unknown): unknown {
  try {
    return policy(subject)
  } catch (error) {
    const { name } = policy
    if (!(error instanceof TypeError) || !error.message.startsWith(`${name}: `)) throw error
    const fix = `Write policy: ${name}({ … }).`
    throw new TypeError(`${owner}: policy must be a policy, got ${name} itself. ${fix}`, { cause: error })
  }
}

/**
 * Returns what a policy function returned for a subject. Throws a `TypeError` unless it is an object: a plan
 * that is not in the table must not leave its clients without a limit.
 */
export function checkResolved(owner: string, value: unknown): object {
  if (isObject(value)) return value
  if (value !== undefined && value !== null) return checkPolicy(owner, value) // throws
  const fix = 'Return one for each subject, such as plans[plan] ?? plans.free. To exempt some, set skip.'
  throw wrongOption(owner, 'the result of policy', 'a policy', value, fix)
}

/** Returns a checked cost, or a function whose result is checked at each charge. */
function readCost(
  owner: string,
  option: string,
  cost: unknown,
): number | ((subject: unknown) => MaybePromise<number>) {
  if (typeof cost !== 'function') return checkedCost(owner, option, cost)
  return (subject) => thenMaybe(cost(subject), (units) => checkedCost(owner, option, units))
}

/** Returns a cost. Throws a `TypeError` unless it is a whole number, as the stored counters are. */
export const checkedCost = whole(0, Number.MAX_SAFE_INTEGER, 1)
