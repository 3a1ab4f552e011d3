import { optional, readOptions } from '../options/option-table.js'
import { type Duration, durationMs, MAX_DURATION_MS, shortDuration } from '../util/durations.js'
import { keyName, wholeNumber, wrongOption } from '../util/validate.js'
import { GRID_PER_MS } from './bucket-grid.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'
import { prepaidRefill } from './prepaid.js'

/** Options of `tokenBucket`. */
export interface TokenBucketOptions {
  /** The most tokens that the bucket holds, and so the largest burst. A whole number of at least 1. */
  capacity: number
  /** How many tokens are added per `every`, evenly spread. A whole number of at least 1. */
  refill: number
  /** The time in which `refill` tokens are added. */
  every: Duration
  /** For headers and keys. Default: made from the numbers, `100-in-1min` or `10-in-1s-burst-50`. */
  name?: string
}

const OPTIONS = {
  rows: { capacity: wholeNumber, refill: wholeNumber, every: durationMs, name: optional(keyName) },
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

/** The largest relative error of a rate on the grid. All rates up to 16,384 a second are within it. */
const MAX_RATE_ERROR = 0.002

const WINDOW_UNITS = [86_400_000, 3_600_000, 60_000, 1000, 1]

/**
 * Creates a bucket that starts full, loses a token for each unit of cost, and is refilled evenly and lazily.
 * Its whole state is one timestamp: when it will be full again. It decides as the generic cell rate
 * algorithm (GCRA, ITU-T I.371) does.
 *
 * **Bound.** In any `d` ms at most `capacity + floor(d / interval)` units are admitted, with `interval =
 * every / refill`: what the bucket held at the start, plus the refill. So a bucket of `limit` tokens,
 * refilled once per window, admits at most twice the limit in one window, and the limit per window in the
 * long run. The interval is rounded to 1/4096 ms: by at most 0.13 % at 10,000 a second, less in proportion
 * at lower rates. Rates that rounding would change by more than 0.2 % are rejected. That is no rate up to
 * 16,384 a second, and most rates above.
 *
 * **Clock.** If a clock was ahead, no client waits for longer than a full refill takes.
 *
 * **Refunds** restore the units that the refill has not brought back yet.
 *
 * Throws a `TypeError` for a rate that rounding changes by more than 0.2 %, and for a bucket that takes over
 * ten years to fill.
 */
export function tokenBucket(options: TokenBucketOptions): Policy {
  const { capacity, refill, every, name, intervalMs } = readOptions('tokenBucket', options, OPTIONS)
  const fallback = `${refill}-in-${shortDuration(every)}${capacity === refill ? '' : `-burst-${capacity}`}`
  return makeTokenBucket(name ?? fallback, capacity, intervalMs, (capacity * every) / refill)
}

/**
 * Returns the bucket of a spec: of a capacity, and of the time in which one token is refilled, on the grid.
 * Its window is the longest unit, or multiple of one, that rounds to this time.
 */
export function tokenBucketOf(capacity: number, intervalMs: number): Policy {
  if (!(Number.isInteger(intervalMs * GRID_PER_MS) && intervalMs > 0))
    throw wrongOption('tokenBucket', 'intervalMs', 'a multiple of 1/4096 ms', intervalMs)
  const spanMs = wholeNumber('tokenBucket', 'capacity', capacity) * intervalMs
  if (spanMs > (1 + MAX_RATE_ERROR) * MAX_DURATION_MS)
    throw wrongOption('tokenBucket', 'capacity', 'small enough that 10 years fill it', capacity)
  const windows = WINDOW_UNITS.map((unitMs) => Math.round(spanMs / unitMs) * unitMs)
  const windowMs = windows.find((each) => onGrid(each / capacity) === intervalMs) ?? spanMs
  const every = windowMs % 1 === 0 ? shortDuration(windowMs) : `${windowMs}ms`
  return makeTokenBucket(`${capacity}-in-${every}`, capacity, intervalMs, windowMs)
}

/** Returns the time in which one token is refilled, rounded to the grid. */
function readInterval(
  owner: string,
  { capacity, refill, every }: Record<'capacity' | 'refill' | 'every', number>,
): number {
  const exactMs = every / refill
  const intervalMs = onGrid(exactMs)
  if (Math.abs(intervalMs - exactMs) > MAX_RATE_ERROR * exactMs) {
    const must = 'at most 16,384 a second, or a rate that whole multiples of 1/4096 ms keep within 0.2 %'
    const fix =
      'Use slidingWindow, which keeps any rate exactly, or let one unit stand for more, such as a kilobyte.'
    throw wrongOption(owner, 'refill', must, refill, fix)
  }
  if ((capacity / refill) * every > MAX_DURATION_MS) {
    const must = 'small enough that the refill fills it within 10 years'
    throw wrongOption(owner, 'capacity', must, capacity, 'Use a smaller capacity or a faster refill.')
  }
  return intervalMs
}

function makeTokenBucket(name: string, capacity: number, intervalMs: number, windowMs: number): Policy {
  const spanMs = capacity * intervalMs // from empty to full: `windowMs` rounded to the grid

  function take(state: State | undefined, nowMs: number, cost: number): Step {
    const now = floorToGrid(nowMs)
    const missingMs = state === undefined ? 0 : Math.max(0, (state[0] ?? 0) - now) // until full
    const debtMs = Math.min(missingMs, spanMs) // a clock that was ahead may have stored a later time
    const afterMs = debtMs + cost * intervalMs // until full, once the cost is taken
    if (cost === 0) return stepOf(true, debtMs, 0, undefined)
    if (afterMs <= spanMs) return stepOf(true, afterMs, 0, [now + afterMs])
    const retryAfterMs = cost > capacity ? Number.POSITIVE_INFINITY : afterMs - spanMs
    const clamped = clampToNow(state, nowMs)
    return stepOf(false, debtMs, retryAfterMs, clamped === state ? undefined : clamped)
  }

  function stepOf(allowed: boolean, debtMs: number, retryAfterMs: number, next: State | undefined): Step {
    const remaining = Math.floor((spanMs - debtMs) / intervalMs)
    const moreAfterMs = debtMs === 0 ? 0 : debtMs - (capacity - remaining - 1) * intervalMs
    return { allowed, remaining, resetAfterMs: debtMs, retryAfterMs, moreAfterMs, next }
  }

  function clampToNow(state: State | undefined, nowMs: number): State | undefined {
    const latestMs = floorToGrid(nowMs) + spanMs
    return state && (state[0] ?? 0) > latestMs ? [latestMs] : state
  }

  const refund: Policy['refund'] = (state, nowMs, cost, takenAtMs, resetAtMs) => {
    const costMs = cost * intervalMs
    const refundMs = floorToGrid(Math.min(costMs, (resetAtMs ?? takenAtMs + costMs) - nowMs))
    if (refundMs <= 0) return state
    const [fullAtMs = 0] = clampToNow(state, nowMs) ?? []
    return fullAtMs - refundMs <= nowMs ? undefined : [fullAtMs - refundMs]
  }

  return Object.freeze<Policy>({
    spec: Object.freeze({ kind: 'token-bucket', capacity, intervalMs }),
    name,
    limit: capacity,
    windowMs,
    width: 1,
    take,
    refund,
    reward: (state, nowMs, units) => refund(state, nowMs, units, nowMs),
    clampToNow,
    prepaid: prepaidRefill(intervalMs, capacity),
    scale(share) {
      const exactMs = windowMs / capacity / share
      const tokens = shareOf(capacity, share)
      return makeTokenBucket(name, tokens, Math.ceil(exactMs * GRID_PER_MS) / GRID_PER_MS, tokens * exactMs)
    },
  })
}

function onGrid(ms: number): number {
  return Math.round(ms * GRID_PER_MS) / GRID_PER_MS
}

function floorToGrid(ms: number): number {
  return Math.floor(ms * GRID_PER_MS) / GRID_PER_MS
}
