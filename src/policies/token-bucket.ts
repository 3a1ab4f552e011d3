import { optional, readRows } from '../options/option-table.js'
import { type Duration, durationMs, MAX_DURATION_MS, shortDuration } from '../util/durations.js'
import { keyName, wholeNumber, wrongOption } from '../util/validate.js'
import {
  bucketInterval,
  bucketUnit,
  GRID_PER_MS,
  isBucketInterval,
  isOnGrid,
  MAX_CAPACITY,
  MAX_MISSING_MS,
  readInterval,
} from './bucket-grid.js'
import {
  type ChangeOptions,
  type ChangeRules,
  DEBT_ROW,
  NO_RULES,
  ON_CHANGE_ROW,
  specOfRules,
} from './change-options.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'
import type { BaseSpec } from './spec.js'

/** Options of `tokenBucket`. */
export interface TokenBucketOptions extends ChangeOptions {
  /** The most tokens that the bucket holds, and so the largest burst. A whole number of at least 1. */
  capacity: number
  /** How many tokens are added per `every`, evenly spread. A whole number of at least 1. */
  refill: number
  /** The time in which `refill` tokens are added, such as `'1s'`. */
  every: Duration
  /**
   * The name of the limit in headers and keys. Default: made from the numbers, such as `100-in-1min` or
   * `10-in-1s-burst-50`.
   */
  name?: string
}

const OPTIONS = {
  rows: {
    capacity: wholeNumber,
    refill: wholeNumber,
    every: durationMs,
    name: optional(keyName),
    debt: DEBT_ROW,
    onChange: ON_CHANGE_ROW,
  },
  rules: { intervalMs: { from: ['capacity', 'refill', 'every'], read: readInterval } },
  fixes: {
    limit: 'Write capacity and refill.',
    max: 'Write capacity and refill.',
    points: 'Write capacity and refill.',
    window: 'every',
    windowMs: 'every',
    interval: 'every',
  },
} as const

const WINDOW_UNITS = [86_400_000, 3_600_000, 60_000, 1000, 1]

/**
 * Creates a policy that allows bursts of up to `capacity` units, which come back evenly over time. A bucket
 * starts full and loses a token for each unit of cost. It decides as the generic cell rate algorithm does
 * (GCRA, ITU-T I.371).
 *
 * **Bound.** In any `d` ms, at most `capacity + floor(d / interval)` units are admitted, with
 * `interval = every / refill`. That is what the bucket held at the start, plus the refill. So a bucket of
 * `limit` tokens, refilled once per window, admits at most twice the limit in one window, and the limit per
 * window in the long run. The interval is rounded by at most 0.01%, at any rate from one a year to a
 * billion a second.
 *
 * **Clock.** A step back grants nothing. If a clock was ahead, no client waits for longer than a full refill and
 * the time of its debt.
 *
 * **Refunds** restore the units that the refill has not brought back yet.
 *
 * **Change of numbers.** The missing tokens stay missing. They are refilled at the new rate from the last
 * charge on. If more tokens are missing than the new capacity has, the client waits until it has a token again.
 *
 * **State.** How many tokens were missing after the last charge, and its time.
 *
 * Throws a `TypeError` for a bucket that takes over ten years to fill, or has more than 2^37 tokens.
 *
 * @example
 * ```ts
 * import { rateLimit, tokenBucket } from 'headgate'
 *
 * // Bursts of up to 50 requests, then 10 a second.
 * const policy = tokenBucket({ capacity: 50, refill: 10, every: '1s' })
 * const api = rateLimit({ policy })
 * ```
 */
export function tokenBucket(options: TokenBucketOptions): Policy {
  const read = readRows('tokenBucket', options, OPTIONS)
  const { capacity, refill, every, name, intervalMs, debt, onChange } = read
  const fallback = `${refill}-in-${shortDuration(every)}${capacity === refill ? '' : `-burst-${capacity}`}`
  const windowMs = (capacity * every) / refill
  return makeTokenBucket({ name: name ?? fallback, capacity, intervalMs, windowMs, debt, onChange })
}

/**
 * Returns the bucket that refills a whole limit in a window. Throws a `TypeError` if the limit is too large.
 */
export function bucketOfLimit(owner: string, limit: number, windowMs: number): Policy {
  const intervalMs = readInterval(owner, { capacity: limit, refill: limit, every: windowMs }, 'limit')
  const name = `${limit}-in-${shortDuration(windowMs)}`
  return makeTokenBucket({ name, capacity: limit, intervalMs, windowMs, ...NO_RULES })
}

/**
 * Returns the bucket of a spec: of a capacity, and of the time in which one token is refilled, rounded as
 * `bucketInterval` does. Its window is the longest unit, or multiple of one, that rounds to this time.
 */
export function tokenBucketOf(capacity: number, intervalMs: number, rules: ChangeRules = NO_RULES): Policy {
  if (!isBucketInterval(intervalMs))
    throw wrongOption(
      'tokenBucket',
      'intervalMs',
      'a multiple of 1/4096 ms, or a number of 15 bits',
      intervalMs,
    )
  const spanMs = wholeNumber('tokenBucket', 'capacity', capacity) * intervalMs
  if (spanMs > 1.001 * MAX_DURATION_MS || capacity > MAX_CAPACITY)
    throw wrongOption('tokenBucket', 'capacity', 'small enough to fill within 10 years', capacity)
  const windows = WINDOW_UNITS.map((unitMs) => Math.round(spanMs / unitMs) * unitMs)
  const isNamed = (each: number) => each > 0 && bucketInterval(each / capacity) === intervalMs
  const windowMs = windows.find(isNamed) ?? spanMs
  const every = windowMs % 1 === 0 ? shortDuration(windowMs) : `${windowMs}ms`
  return makeTokenBucket({ name: `${capacity}-in-${every}`, capacity, intervalMs, windowMs, ...rules })
}

interface Bucket extends ChangeRules {
  readonly name: string
  readonly capacity: number
  readonly intervalMs: number
  readonly windowMs: number
}

function makeTokenBucket(given: Bucket): Policy {
  const bucket = { ...given, debt: Math.min(given.debt, Math.floor(MAX_MISSING_MS / given.intervalMs)) }
  const { name, capacity, intervalMs, windowMs, debt } = bucket
  const spanMs = capacity * intervalMs // from empty to full: `windowMs`, rounded
  const mostMs = (capacity + debt) * intervalMs // the longest that a bucket with a debt takes to fill
  const onGrid = isOnGrid(intervalMs)
  const unitMs = bucketUnit(intervalMs)
  const perToken = intervalMs / unitMs // a whole number
  const rounding = Math.min(0.5, (capacity + debt) * perToken * 2 ** -51)

  /**
   * Returns how long a number of tokens takes to be refilled. Restores exactly what this policy has divided
   * by its interval. Rounds up what another policy has.
   */
  function refillMs(tokens: number): number {
    return Math.ceil(tokens * perToken - rounding) * unitMs
  }

  /** Returns how long the bucket of a state takes to fill. A clock that was ahead adds a full refill at most. */
  function missingAt(state: State | undefined, now: number): number {
    if (state === undefined) return 0
    // By index: to destructure an array would make a decision slower.
    const writtenMs = refillMs(state[0] ?? 0)
    const missingMs = writtenMs - (now - (state[1] ?? 0))
    if (missingMs <= 0) return 0
    const possibleMs = missingMs <= writtenMs ? missingMs : Math.min(missingMs, Math.max(writtenMs, mostMs))
    return Math.min(possibleMs, MAX_MISSING_MS)
  }

  function take(state: State | undefined, nowMs: number, cost: number, mayOwe = false): Step {
    const now = floorToGrid(nowMs)
    const missingMs = missingAt(state, now)
    const afterMs = missingMs + cost * intervalMs // until full, once the cost is taken
    if (cost === 0) return stepOf(true, missingMs, 0, undefined)
    if (afterMs <= (mayOwe ? mostMs : spanMs)) return stepOf(true, afterMs, 0, [afterMs / intervalMs, now])
    const retryAfterMs = cost > capacity ? Number.POSITIVE_INFINITY : afterMs - spanMs
    const clamped = clampToNow(state, nowMs)
    return stepOf(false, missingMs, retryAfterMs, clamped === state ? undefined : clamped)
  }

  function stepOf(allowed: boolean, missingMs: number, retryAfterMs: number, next: State | undefined): Step {
    if (missingMs > spanMs) {
      const debt = Math.ceil((missingMs - spanMs) / intervalMs)
      const moreAfterMs = missingMs - (capacity - 1) * intervalMs
      const step = { allowed, remaining: 0, resetAfterMs: missingMs, retryAfterMs, moreAfterMs, debt, next }
      return onGrid ? step : withTimesOnGrid(step)
    }
    const remaining = Math.floor((spanMs - missingMs) / intervalMs)
    const moreAfterMs = missingMs === 0 ? 0 : missingMs - (capacity - remaining - 1) * intervalMs
    const step = { allowed, remaining, resetAfterMs: missingMs, retryAfterMs, moreAfterMs, next }
    return onGrid ? step : withTimesOnGrid(step)
  }

  function clampToNow(state: State | undefined, nowMs: number): State | undefined {
    if (state === undefined || (state[1] ?? 0) <= nowMs) return state
    const now = floorToGrid(nowMs)
    const writtenMs = refillMs(state[0] ?? 0)
    const possibleMs = Math.max(writtenMs, mostMs)
    return possibleMs < writtenMs - (now - (state[1] ?? 0)) ? [possibleMs / intervalMs, now] : state
  }

  /**
   * Returns a state without the tokens that take `backMs` to be refilled; `undefined` if none is missing. It
   * keeps the time of the state, since what has been refilled since then depends on the policy that reads it.
   */
  function giveBack(state: State, nowMs: number, backMs: number): State | undefined {
    const wholeMs = Math.floor(backMs / unitMs) * unitMs
    if (wholeMs <= 0) return state
    const [tokens = 0, writtenAtMs = 0] = state
    const atMs = Math.min(writtenAtMs, floorToGrid(nowMs))
    const leftMs = (atMs < writtenAtMs ? missingAt(state, atMs) : refillMs(tokens)) - wholeMs
    return leftMs <= 0 ? undefined : [leftMs / intervalMs, atMs]
  }

  const refund: Policy['refund'] = (state, nowMs, cost, takenAtMs, resetAtMs) => {
    const costMs = cost * intervalMs
    // Not `takenAtMs + costMs`, because that sum would round away the time of a few tokens of a fast bucket.
    const pendingMs = resetAtMs === undefined ? costMs + (takenAtMs - nowMs) : resetAtMs - nowMs
    return giveBack(state, nowMs, Math.min(costMs, pendingMs))
  }

  return Object.freeze<Policy>({
    spec: Object.freeze<BaseSpec>({ kind: 'token-bucket', capacity, intervalMs, ...specOfRules(bucket) }),
    name,
    limit: capacity,
    windowMs,
    width: 2,
    debt,
    take,
    refund,
    reward(state, nowMs, units) {
      const left = giveBack(state, nowMs, units * intervalMs)
      return left !== state && missingAt(left, nowMs) === 0 ? undefined : left
    },
    clampToNow,
    scale(share) {
      const exactMs = windowMs / capacity / share
      const tokens = shareOf(capacity, share)
      const slower = bucketInterval(exactMs, Math.ceil)
      return makeTokenBucket({ ...bucket, capacity: tokens, intervalMs: slower, windowMs: tokens * exactMs })
    },
  })
}

function floorToGrid(ms: number): number {
  return Math.floor(ms * GRID_PER_MS) / GRID_PER_MS
}

function ceilToGrid(ms: number): number {
  return Math.ceil(ms * GRID_PER_MS) / GRID_PER_MS
}

/** Returns a step whose times are the first moments on the grid by which they have passed. */
function withTimesOnGrid(step: Step): Step {
  const resetAfterMs = ceilToGrid(step.resetAfterMs)
  const retryAfterMs = ceilToGrid(step.retryAfterMs)
  return { ...step, resetAfterMs, retryAfterMs, moreAfterMs: ceilToGrid(step.moreAfterMs) }
}
