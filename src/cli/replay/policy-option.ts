import { fixedWindow } from '../../policies/fixed-window.js'
import type { Policy } from '../../policies/policy.js'
import { slidingWindow } from '../../policies/sliding-window.js'
import { tokenBucket } from '../../policies/token-bucket.js'
import { messageOf } from '../../stores/store-error.js'
import { durationText } from '../../util/durations.js'
import { didYouMean } from '../arguments.js'
import { UsageError } from '../failures.js'

/** Where windows begin that can be counted for all limits at once. */
export type WindowStart = 'clock' | 'first-request'
type Make = (limit: number, window: string) => Policy

/** The policies by name. The token bucket is what `rateLimit` makes of `limit` and `window`. */
const POLICIES = {
  'token-bucket': (limit, window) => tokenBucket({ capacity: limit, refill: limit, every: window }),
  'sliding-window': (limit, window) => slidingWindow({ limit, window }),
  'fixed-window': (limit, window) => fixedWindow({ limit, window }),
  'first-request': (limit, window) => fixedWindow({ limit, window, startsAt: 'first-request' }),
} satisfies Record<string, Make>

type PolicyName = keyof typeof POLICIES

const MAX_LIMITS = 8
/** Its ten slices are of whole milliseconds. */
const MIN_SLIDING_MS = 10

/** The policies whose windows do not depend on the limit, so that one pass counts for all limits. */
const COUNTABLE: Partial<Record<PolicyName, WindowStart>> = {
  'fixed-window': 'clock',
  'first-request': 'first-request',
}

export function readLimits(texts: readonly string[], isOptional: boolean): readonly number[] {
  if (texts.length === 0 && !isOptional) throw new UsageError('--limit is required, such as --limit 100')
  if (texts.length > MAX_LIMITS) throw new UsageError(`--limit can be given at most ${MAX_LIMITS} times`)
  const limits = texts.map(readLimit)
  const twice = limits.find((limit, i) => limits.indexOf(limit) < i)
  if (twice !== undefined) throw new UsageError(`--limit ${twice} is given twice`)
  return limits
}

function readLimit(text: string): number {
  const limit = Number(text)
  if (/^\d{1,15}$/.test(text) && limit >= 1) return limit
  throw new UsageError(`--limit must be a whole number of at least 1, got ${JSON.stringify(text)}`)
}

export function readPolicyName(text = 'token-bucket'): PolicyName {
  if (isPolicyName(text)) return text
  const names = Object.keys(POLICIES)
  const fix = didYouMean('', text, names)
  throw new UsageError(`--policy must be one of ${names.join(', ')}, got ${JSON.stringify(text)}${fix}`)
}

function isPolicyName(text: string): text is PolicyName {
  return Object.hasOwn(POLICIES, text)
}

export function makePolicy(kind: PolicyName, limit: number, window: number): Policy {
  try {
    return POLICIES[kind](limit, `${window}ms`)
  } catch (error) {
    if (kind === 'sliding-window' && window < MIN_SLIDING_MS)
      throw new UsageError(
        `--policy sliding-window requires a --window of at least ${MIN_SLIDING_MS}ms, got ${window}ms`,
      )
    if (kind !== 'token-bucket') throw new UsageError(messageOf(error))
    const fix = 'use --policy sliding-window, which supports any rate'
    throw new UsageError(
      `--limit ${limit} in --window ${durationText(window)} is too fast for a token bucket; ${fix}`,
    )
  }
}

export function countableStart(kind: PolicyName): WindowStart {
  const startsAt = COUNTABLE[kind]
  if (startsAt !== undefined) return startsAt
  const why = `a ${kind} cannot be counted exactly for every limit in one pass`
  throw new UsageError(`--suggest requires --policy fixed-window or first-request: ${why}`)
}
