import { policyHints } from '../options/hints/policy-hints.js'
import { optional, readOptions } from '../options/option-table.js'
import { type Duration, durationMs, MAX_DURATION_MS, shortDuration } from '../util/durations.js'
import { keyName, wholeNumber, wrongOption } from '../util/validate.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'
import { prepaidRefill } from './prepaid.js'

/** Options of `tokenBucket`. */
export interface TokenBucketOptions {
  /** The most tokens that the bucket holds, and so the largest burst. A whole number of at least 1. */
  capacity: number
  /** How many tokens are refilled per `every`, evenly spread. A whole number of at least 1. */
  refill: number
  /** The time in which `refill` tokens are refilled. */
  every: Duration
  /** For headers and keys. Default: such as `100-in-1min`, or `10-in-1s-burst-50`. */
  name?: string
}

const OPTIONS = {
  rows: { capacity: wholeNumber, refill: wholeNumber, every: durationMs, name: optional(keyName) },
  rules: { intervalMs: { from: ['capacity', 'refill', 'every'], read: readInterval } },
  renamed: { interval: 'every' },
  hint: policyHints({ units: ['capacity', 'refill'], time: 'every' }),
} as const

/**
 * Bucket times are kept on a grid of 1/4096 ms. It is the spacing of doubles at today's time, so sums are
 * exact and retry times are exact with them. (Epoch milliseconds reach 2^41, where the spacing doubles, in
 * 2039.)
 */
const GRID = 4096

/** The largest relative error of a rate on the grid. All rates up to 16,384 a second are within it. */
const MAX_RATE_ERROR = 0.002

/**
 * Creates a bucket that starts full, loses a token for each unit of cost, and is refilled evenly and lazily.
 * One timestamp is its whole state: when it will be full again. That makes it the generic cell rate
 * algorithm (GCRA, ITU-T I.371) seen from the other side; the two decide alike.
 *
 * **Bound.** In any true window of `d` ms at most `capacity + floor(d / interval)` units are admitted, with
 * `interval = every / refill`: what the bucket held at the start, and what came in. So `limit` in `window`
 * as a bucket of that capacity admits at most twice the limit in one window, and the limit per window in the
 * long run. The interval is rounded to 1/4096 ms: not at all where it is a whole number of milliseconds, by
 * at most 0.13 % at 10,000 a second, less in proportion at lower rates. Rates that rounding would change by
 * more than 0.2 % are refused: none up to 16,384 a second, and above that most.
 *
 * **Clock.** After a clock that was ahead, nobody waits for longer than the time that fills the whole
 * bucket.
 *
 * **Refunds** restore what has not been refilled yet. In a bucket that would have been full at some moment
 * since the taking, the units were refilled by then; so a refund restores at most the time that was left
 * until then. Where handlers are slow and the bucket is nearly full, that is less than was taken, and
 * rightly so.
 *
 * Throws a `TypeError` for wrong numbers: a rate that rounding changes by more than 0.2 %, or a bucket that
 * takes over ten years to fill.
 */
export function tokenBucket(options: TokenBucketOptions): Policy {
  const { capacity, refill, every, name, intervalMs } = readOptions('tokenBucket', options, OPTIONS)
  const fallback = `${refill}-in-${shortDuration(every)}${capacity === refill ? '' : `-burst-${capacity}`}`
  return makeTokenBucket(name ?? fallback, capacity, intervalMs, (capacity * every) / refill)
}

interface Rate {
  readonly capacity: number
  readonly refill: number
  readonly every: number
}

/** Returns the time in which one token is refilled, on the grid. */
function readInterval(owner: string, { capacity, refill, every }: Rate): number {
  const intervalMs = onGrid(every / refill, 'refill', refill)
  if ((capacity / refill) * every > MAX_DURATION_MS) {
    const must = 'small enough that the refill fills it within 10 years'
    throw wrongOption(owner, 'capacity', must, capacity, 'Use a smaller capacity or a faster refill.')
  }
  return intervalMs
}

/** Rounds an interval to the grid. Throws a `TypeError` about `option` where the rate changes too much. */
function onGrid(exactMs: number, option: string, value: number): number {
  const intervalMs = Math.round(exactMs * GRID) / GRID
  if (Math.abs(intervalMs - exactMs) <= MAX_RATE_ERROR * exactMs) return intervalMs
  const must = 'at most 16,384 a second, or a rate that whole multiples of 1/4096 ms keep within 0.2 %'
  const fix =
    'Use slidingWindow, which keeps any rate exactly, or let one unit stand for more, such as a kilobyte.'
  throw wrongOption('tokenBucket', option, must, value, fix)
}

function makeTokenBucket(name: string, capacity: number, intervalMs: number, windowMs: number): Policy {
  const spanMs = capacity * intervalMs // from empty to full: windowMs, on the grid

  function take(state: State | undefined, nowMs: number, cost: number): Step {
    const now = floorToGrid(nowMs)
    const missingMs = state === undefined ? 0 : Math.max(0, (state[0] as number) - now) // until full
    const debtMs = Math.min(missingMs, spanMs)
    const afterMs = debtMs + cost * intervalMs
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
    return state && (state[0] as number) > latestMs ? [latestMs] : state
  }

  function refund(
    state: State,
    nowMs: number,
    cost: number,
    takenAtMs: number,
    resetAtMs = takenAtMs + cost * intervalMs,
  ): State | undefined {
    const refundMs = floorToGrid(Math.min(cost * intervalMs, resetAtMs - nowMs))
    if (refundMs <= 0) return state
    const [fullAtMs] = clampToNow(state, nowMs) as readonly [number]
    return fullAtMs - refundMs <= nowMs ? undefined : [fullAtMs - refundMs]
  }

  return Object.freeze({
    kind: 'token-bucket' as const,
    name,
    limit: capacity,
    windowMs,
    width: 1,
    params: Object.freeze([capacity, intervalMs]),
    take,
    refund,
    clampToNow,
    prepaid: prepaidRefill(intervalMs, capacity),
    scaled(share: number) {
      const exactMs = windowMs / capacity / share
      const own = shareOf(capacity, share)
      return makeTokenBucket(name, own, onGrid(exactMs, 'share', share), own * exactMs)
    },
  })
}

function floorToGrid(ms: number): number {
  return Math.floor(ms * GRID) / GRID
}
