import { optional, readRows, withDefault } from '../options/option-table.js'
import { type Duration, durationMs } from '../util/durations.js'
import { keyName, wholeNumber, wrongOption } from '../util/validate.js'
import { type Policy, type State, type Step, shareOf } from './policy.js'
import { sliceIndex } from './sliding-window.js'
import { TTL_SLICES as SLICES } from './spec.js'

/** Options of `concurrency`. */
export interface ConcurrencyOptions {
  /** The most units that may be held at once. A whole number of at least 1. */
  limit: number
  /**
   * How long units stay held without being renewed, or up to an eighth longer. At least one second. A
   * request may take longer, because headgate renews its units. Default `'1m'`.
   */
  ttl?: Duration
  /** The name of the limit in headers and keys. Default: made from the limit, such as `50-at-once`. */
  name?: string
}

const OPTIONS = {
  rows: { limit: wholeNumber, ttl: withDefault(60_000, readTtl), name: optional(keyName) },
  fixes: {
    max: 'limit',
    points: 'limit',
    window: 'ttl',
    windowMs: 'ttl',
    timeout: 'ttl',
  },
}

function readTtl(owner: string, option: string, value: unknown): number {
  const ttlMs = durationMs(owner, option, value)
  if (ttlMs >= 1000) return ttlMs
  throw wrongOption(owner, option, 'at least 1 second', value, "Write ttl: '30s'.")
}

/**
 * The `retryAfterMs` of a denial, and `moreAfterMs`: a hint, since no one can know when a request will end.
 */
const RETRY_HINT_MS = 1000

/** The index of a state's first count, and how many numbers a state has. */
const FIRST = 1
const WIDTH = FIRST + SLICES + 1

/** The units to renew or release: how many, when they were taken, and when time alone frees them. */
type HeldCost = readonly [cost: number, takenAtMs: number, resetAtMs?: number]

/**
 * Creates the policy of `concurrency`, as stores need it. The units under each `ttl` are counted separately.
 *
 * **State.** The newest slice's index, then how many units were last renewed in each slice, newest
 * first. The units of a slice count for `ttl` after it has ended, unless they are renewed or released.
 */
export function concurrencyPolicy(options: ConcurrencyOptions): Policy {
  const { limit, ttl, name = `${limit}-at-once` } = readRows('concurrency', options, OPTIONS)
  return makeConcurrency(name, limit, ttl)
}

function makeConcurrency(name: string, limit: number, ttlMs: number): Policy {
  const indexOf = (atMs: number) => sliceIndex(atMs, ttlMs, SLICES)
  /** Returns the first whole millisecond at which the units of a slice no longer count. */
  const endOf = (index: number) => Math.ceil(((index + SLICES + 1) * ttlMs) / SLICES)
  /** Returns the slice of held units. After a step back of the clock, it may lie ahead of `takenAtMs`. */
  const sliceOf = ([, takenAtMs, resetAtMs]: HeldCost) =>
    resetAtMs === undefined ? indexOf(takenAtMs) : indexOf(Math.round(resetAtMs)) - SLICES - 1

  /** Returns a copy of the state, shifted to the current slice unless its newest slice is ahead of it. */
  function shiftTo(nowMs: number, state: State | undefined): number[] {
    const shifted = new Array<number>(WIDTH).fill(0)
    const index = state?.[0] ?? 0
    shifted[0] = Math.max(indexOf(nowMs), index)
    if (state === undefined) return shifted
    const shift = shifted[0] - index
    for (let i = FIRST + shift; i < shifted.length; i++) shifted[i] = state[i - shift] as number
    return shifted
  }

  function take(state: State | undefined, nowMs: number, cost: number): Step {
    const clamped = clampToNow(state, nowMs)
    const shifted = shiftTo(nowMs, clamped)
    const before = unitsIn(shifted)
    const allowed = cost === 0 || before + cost <= limit
    if (allowed) shifted[FIRST] = (shifted[FIRST] ?? 0) + cost
    const used = allowed ? before + cost : before
    const newest = (shifted[0] ?? 0) + FIRST - shifted.findIndex((count, i) => i >= FIRST && count > 0)
    const after = allowed ? shifted : clamped
    return {
      allowed,
      remaining: Math.max(0, limit - used),
      resetAfterMs: used === 0 ? 0 : endOf(newest) - nowMs,
      retryAfterMs: allowed ? 0 : cost > limit ? Number.POSITIVE_INFINITY : RETRY_HINT_MS,
      moreAfterMs: used === 0 ? 0 : RETRY_HINT_MS,
      next: cost === 0 || after === state ? undefined : after,
    }
  }

  function clampToNow(state: State | undefined, nowMs: number): State | undefined {
    const latest = indexOf(nowMs) + SLICES
    return state && (state[0] ?? 0) > latest ? [latest, ...state.slice(FIRST)] : state
  }

  function refund(state: State, nowMs: number, ...held: HeldCost): State | undefined {
    const left = without(state, held)
    return left !== state && unitsIn(shiftTo(nowMs, left)) === 0 ? undefined : left
  }

  function renew(state: State | undefined, nowMs: number, ...held: HeldCost): State {
    const [index = 0, newest = 0, ...older] = without(shiftTo(nowMs, clampToNow(state, nowMs)), held)
    return [index, newest + held[0], ...older]
  }

  /**
   * Returns a state without held units, as far as their slice still has them. Returns it as it is if none
   * are.
   */
  function without(state: State, held: HeldCost): State {
    const at = FIRST + (state[0] ?? 0) - sliceOf(held)
    const count = at >= FIRST ? (state[at] ?? 0) : 0
    if (count === 0 || held[0] === 0) return state
    return state.map((value, i) => (i === at ? Math.max(0, count - held[0]) : value))
  }

  return Object.freeze<Policy>({
    spec: Object.freeze({ kind: 'concurrency', limit, ttlMs }),
    name,
    limit,
    windowMs: Number.POSITIVE_INFINITY,
    width: WIDTH,
    holdsUnits: true,
    ttlMs,
    take,
    refund,
    renew,
    reward: (state) => state, // it is unknown whose units to give back
    clampToNow,
    scale: (share) => makeConcurrency(name, shareOf(limit, share), ttlMs),
  })
}

function unitsIn(state: State): number {
  let units = 0
  for (let i = FIRST; i < state.length; i++) units += state[i] as number
  return units
}
