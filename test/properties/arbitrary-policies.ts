import fc from 'fast-check'
import {
  ban,
  consecutive,
  fixedWindow,
  type Policy,
  quota,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import type { State } from 'headgate/store'
import { baseOf } from '../../src/policies/spec.js'

/** A policy under test, with what its documentation promises. */
export interface Promised {
  readonly policy: Policy
  /** The most that may be admitted over any true time of `elapsedMs`, both ends included. */
  most(elapsedMs: number): number
  /** The longest that anybody waits after the clock was ahead and came back. */
  readonly longestLockoutMs: number
}

const bucket = fc
  .record({
    capacity: fc.integer({ min: 1, max: 40 }),
    refill: fc.integer({ min: 1, max: 100 }),
    every: fc.integer({ min: 1, max: 86_400_000 }),
  })
  .map((numbers): Promised => {
    const refill = Math.min(numbers.refill, 10 * numbers.every) // at most 10,000 a second
    const policy = tokenBucket({ ...numbers, refill, every: `${numbers.every}ms` })
    const intervalMs = intervalMsOf(policy)
    return {
      policy,
      most: (elapsedMs) => numbers.capacity + Math.floor(elapsedMs / intervalMs),
      longestLockoutMs: Math.ceil(numbers.capacity * intervalMs * 4096) / 4096, // retry times are on the grid
    }
  })

const fixed = fc
  .record({ limit: fc.integer({ min: 1, max: 30 }), window: fc.integer({ min: 1, max: 100_000 }) })
  .map((numbers): Promised => {
    const windows = (elapsedMs: number) => Math.floor(elapsedMs / numbers.window) + 2 // aligned ones that it touches
    return {
      policy: fixedWindow({ ...numbers, window: `${numbers.window}ms` }),
      most: (elapsedMs) => numbers.limit * windows(elapsedMs),
      longestLockoutMs: 2 * numbers.window,
    }
  })

/** Windows of each client's own. */
export const fromFirstRequest = fc
  .record({ limit: fc.integer({ min: 1, max: 30 }), window: fc.integer({ min: 1, max: 100_000 }) })
  .map(({ limit, window }): Promised => {
    const windows = (elapsedMs: number) => Math.ceil(elapsedMs / window) + 1 // that do not overlap
    return {
      policy: fixedWindow({ limit, window: `${window}ms`, startsAt: 'first-request' }),
      most: (elapsedMs) => limit * windows(elapsedMs),
      longestLockoutMs: window,
    }
  })

const sliding = fc
  .record({
    limit: fc.integer({ min: 1, max: 30 }),
    window: fc.integer({ min: 12, max: 100_000 }),
    slices: fc.integer({ min: 1, max: 12 }),
  })
  .map((numbers): Promised => {
    const { limit, window, slices } = numbers
    return {
      policy: slidingWindow({ ...numbers, window: `${window}ms` }),
      // Time is read in whole milliseconds, so a true time may be up to 1 ms longer than it is read.
      most: (elapsedMs) => limit * (Math.ceil((elapsedMs + 1) / window) + 1),
      longestLockoutMs: 2 * window + Math.ceil(window / slices) + 1,
    }
  })

/** Logs, of ticks of 1 ms and longer. */
const log = fc
  .record({
    limit: fc.integer({ min: 1, max: 30 }),
    window: fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 1e9 })),
  })
  .map(({ limit, window }): Promised => {
    const tickMs = 2 ** Math.max(0, Math.ceil(Math.log2(window)) - 25)
    return {
      policy: slidingLog({ limit, window: `${window}ms` }),
      most: (elapsedMs) => limit * (Math.floor(elapsedMs / window) + 1),
      longestLockoutMs: window + tickMs,
    }
  })

const inARow = fc.integer({ min: 1, max: 30 }).map(
  (limit): Promised => ({
    policy: consecutive({ limit }),
    most: () => limit,
    longestLockoutMs: Number.POSITIVE_INFINITY, // it reads no clock
  }),
)

const ZONES = ['UTC', '+05:45', 'America/New_York', 'Antarctica/Troll', 'Australia/Lord_Howe', 'Asia/Beirut']
const DAY_MS = 86_400_000
/** By how much a clock may be set forward or back within a period. */
const CHANGE_MS = 2 * 3_600_000

/** Periods of a calendar, with the lengths of the shortest and the longest in days. */
const period = fc.oneof(
  fc.constant({ options: { per: 'day' as const }, shortest: 1, longest: 1 }),
  fc
    .constantFrom('monday' as const, 'saturday' as const)
    .map((startsOn) => ({ options: { per: 'week' as const, startsOn }, shortest: 7, longest: 7 })),
  fc
    .integer({ min: 1, max: 31 })
    .map((startsOn) => ({ options: { per: 'month' as const, startsOn }, shortest: 28, longest: 31 })),
  fc
    .constantFrom('01-01', '02-29', '10-31')
    .map((startsOn) => ({ options: { per: 'year' as const, startsOn }, shortest: 365, longest: 366 })),
)

/** Periods of a calendar, in zones with and without daylight saving time. */
export const inPeriods = fc
  .record({ limit: fc.integer({ min: 1, max: 30 }), timeZone: fc.constantFrom(...ZONES), period })
  .map(({ limit, timeZone, period: { options, shortest, longest } }): Promised => {
    const periods = (elapsedMs: number) => Math.floor(elapsedMs / (shortest * DAY_MS - CHANGE_MS)) + 2
    return {
      policy: quota({ limit, timeZone, ...options }),
      most: (elapsedMs) => limit * periods(elapsedMs),
      longestLockoutMs: 2 * (longest * DAY_MS + CHANGE_MS),
    }
  })

/** Each kind of policy that stands for itself. */
export const BASE_KINDS = {
  tokenBucket: bucket,
  fixedWindow: fixed,
  'fixedWindow from the first request': fromFirstRequest,
  slidingWindow: sliding,
  slidingLog: log,
  consecutive: inARow,
  quota: inPeriods,
}

/** Any policy that stands for itself. */
export const basePolicy = fc.oneof(...Object.values(BASE_KINDS))

/** Policies whose quota comes back with time. */
export const timedPolicy = fc.oneof(bucket, fixed, fromFirstRequest, sliding, log)

const length = fc.integer({ min: 1, max: 200_000 })

/** How somebody is banned. */
export const banNumbers = fc.record({
  after: fc.integer({ min: 1, max: 5 }),
  within: length,
  for: fc.array(length, { minLength: 1, maxLength: 4 }).map((bans) => bans.sort((a, b) => a - b)),
  onAttempt: fc.constantFrom('nothing' as const, 'restart' as const),
})

/** Returns the numbers of a ban as options, since bare numbers below 1000 look like seconds. */
const inMs = <Rest extends { within: number; for: number[] }>(numbers: Rest) => ({
  ...numbers,
  within: `${numbers.within}ms`,
  for: numbers.for.map((banMs) => `${banMs}ms`),
})

export function bannedPolicy(base: fc.Arbitrary<Promised>): fc.Arbitrary<Promised> {
  return fc.tuple(base, banNumbers).map(([{ policy, most, longestLockoutMs }, numbers]) => {
    const longestBanMs = numbers.for.at(-1) as number
    return { policy: ban(policy, inMs(numbers)), most, longestLockoutMs: longestLockoutMs + 2 * longestBanMs }
  })
}

/** Any policy at all. */
export const anyPolicy = fc.oneof(basePolicy, bannedPolicy(basePolicy))

/** Policies by which waiting always helps, at last. */
export const endingPolicy = fc.oneof(timedPolicy, inPeriods, bannedPolicy(fc.oneof(timedPolicy, inPeriods)))

/** The time in which one token of a bucket is refilled. */
export function intervalMsOf({ spec }: Policy): number {
  return spec.kind === 'token-bucket' ? spec.intervalMs : Number.NaN
}

/** Whether a policy, or the one in a ban, counts in windows that begin with the first charge. */
export function isFromFirstRequest({ spec }: Policy): boolean {
  return baseOf(spec).kind === 'first-request-window'
}

/**
 * One take of a trace: the time since the one before as a share of the window, and the cost as a share of
 * the limit.
 */
export interface Take {
  readonly waitShare: number
  readonly costShare: number
}

/** A share up to `max`, evenly spread: most doubles that fast-check draws are next to zero. */
export const shareUpTo = (max: number) => fc.integer({ min: 0, max: 2 ** 20 }).map((n) => (n / 2 ** 20) * max)

/**
 * Waits from nothing to two windows, mostly short; costs from a peek to just above the limit, mostly small.
 */
export const takes = fc.array(
  fc.record({
    waitShare: fc.oneof(fc.constant(0), shareUpTo(0.2), shareUpTo(2)),
    costShare: fc.oneof(shareUpTo(0.3), shareUpTo(1.2)),
  }),
  { minLength: 1, maxLength: 60, size: 'medium' },
)

/** A moment in this century, with a fraction of a millisecond as clocks have them. */
export const moment = fc.double({ min: 1.6e12, max: 2.1e12, noNaN: true })

/** How long a take of a trace waits; windows without end wait a while. */
export function waitMs({ windowMs }: Policy, { waitShare }: Take): number {
  return waitShare * (Number.isFinite(windowMs) ? windowMs : 1000)
}

/** What a take of a trace costs, in whole units. */
export function costOf({ limit }: Policy, { costShare }: Take): number {
  return Math.round(costShare * limit)
}

/** All that a key has left, for clients that always take everything. */
export function allThatIsLeft(policy: Policy, state: State | undefined, nowMs: number): number {
  return policy.take(state, nowMs, 0).remaining
}

/** The state that a store keeps after a step. */
export function stateAfter(state: State | undefined, next: State | undefined): State | undefined {
  return next ?? state
}
