import { isSamePolicy, type Policy, type State } from '../policies/policy.js'
import type { BlockResult, Part, PartResult, TakeResult } from '../stores/operation.js'

/** The latest figures of a key that took part in a denied charge, as a store returned them. */
export interface CachedFigures {
  readonly policy: Policy
  readonly cost: number
  /** The figures for `cost`, or for a peek if `cost` was allowed. */
  readonly figures: PartResult
  /** When the store returned them, by its clock. */
  readonly atMs: number
  /** When the charge was sent, by `performance.now()`. The times in the figures count from there. */
  readonly sentAtMs: number
  /** When the store's reply had arrived, by `performance.now()`. */
  readonly receivedAtMs: number
  /** A denial is repeated at least until then, even if it ends earlier. */
  readonly minUntilMs: number
}

/** A clock of stores shows whole milliseconds. */
const CLOCK_STEP_MS = 1

/**
 * Returns the time by the store's clock, for each of several figures. They count from when they were sent,
 * each with another delay, so of two limits that end together, one would seem to end first. If one clock
 * may have given all of their times, they have one time: the earliest, which has the least delay.
 */
export function storeTimes(all: readonly CachedFigures[], nowMs: number): readonly number[] {
  const times = all.map(({ atMs, sentAtMs }) => atMs + (nowMs - sentAtMs))
  if (times.length === 1) return times
  const earliestMs = Math.min(...times)
  const isOneClock = all.every(
    ({ atMs, receivedAtMs }) => atMs + (nowMs - receivedAtMs) <= earliestMs + CLOCK_STEP_MS,
  )
  return isOneClock ? all.map(() => earliestMs) : times
}

/**
 * Returns the figures that the store would have for a part at `storeMs`, by its clock, if it has not seen the
 * key since. Returns `undefined` if only the store can tell, as it must for a denial that a ban counts.
 */
export function figuresAt(
  storeMs: number,
  cached: CachedFigures,
  part: Part,
  nowMs: number,
): PartResult | undefined {
  const { policy, figures, atMs, minUntilMs } = cached
  if (policy !== part.policy && !isSamePolicy(policy, part.policy)) return undefined
  if (policy.isBan && figures.allowed) return undefined
  if (policy.holdsUnits) return part.cost <= figures.remaining ? figures : undefined // only releases change them
  const ageMs = Math.max(0, storeMs - atMs)
  if (!figures.allowed && nowMs < minUntilMs) return agedFigures(cached, part, ageMs, minUntilMs - nowMs)
  if (policy.spec.kind === 'token-bucket') {
    const state = [figures.resetAfterMs / policy.spec.intervalMs, atMs]
    return takeOrPeek(policy, state, atMs + ageMs, part.cost)
  }
  if (!figures.allowed && ageMs >= figures.retryAfterMs) return undefined // a ban counts the next denial
  if (ageMs >= figures.resetAfterMs) return takeOrPeek(policy, undefined, atMs + ageMs, part.cost)
  return figures.moreAfterMs > 0 && ageMs >= figures.moreAfterMs
    ? undefined
    : agedFigures(cached, part, ageMs)
}

/** Returns the figures of a part for a state. If its cost is allowed, they are those of a peek. */
function takeOrPeek(policy: Policy, state: State | undefined, nowMs: number, cost: number): PartResult {
  const step = policy.take(state, nowMs, cost)
  return step.allowed && cost > 0 ? policy.take(state, nowMs, 0) : step
}

/**
 * Returns figures that only time has changed, while `remaining` has not grown yet. Returns `undefined` if
 * the figures do not give the retry time of the cost.
 */
function agedFigures(cached: CachedFigures, part: Part, ageMs: number, leastMs = 0): PartResult | undefined {
  const { remaining, debt, resetAfterMs, moreAfterMs } = cached.figures
  const allowed = part.cost <= remaining
  const retryAtMs = allowed ? 0 : retryTime(cached, part)
  if (retryAtMs === undefined) return undefined
  return {
    allowed,
    remaining,
    resetAfterMs: Math.max(0, resetAfterMs - ageMs),
    retryAfterMs: allowed ? 0 : Math.max(retryAtMs - ageMs, leastMs),
    moreAfterMs: Math.max(0, moreAfterMs - ageMs),
    ...(debt !== undefined && { debt }),
  }
}

/** Returns the retry time of a cost above `remaining`, or `undefined` if the figures do not give it. */
function retryTime({ figures, cost, policy }: CachedFigures, part: Part): number | undefined {
  const { allowed, retryAfterMs, moreAfterMs, resetAfterMs, unitsAfterMs = resetAfterMs } = figures
  if (policy.isBan && !isEndOfBan(figures)) return undefined
  if (part.cost > policy.limit) return Number.POSITIVE_INFINITY
  if (!allowed && part.cost === cost) return retryAfterMs
  // Each cost is allowed when all units are back, and none before `remaining` grows.
  if (!allowed && part.cost > cost && retryAfterMs >= unitsAfterMs) return retryAfterMs
  return moreAfterMs >= unitsAfterMs ? moreAfterMs : undefined
}

/** Returns whether a ban ends at the retry time. Units in use would not deny for that long. */
function isEndOfBan({ retryAfterMs, resetAfterMs, unitsAfterMs = resetAfterMs }: PartResult): boolean {
  return retryAfterMs > unitsAfterMs && retryAfterMs < Number.POSITIVE_INFINITY
}

/**
 * Returns the figures of a key after units were taken from it. Returns `undefined` if only the store can
 * tell until when the key denies.
 */
export function figuresAfterTake(
  { policy, figures, cost, minUntilMs }: CachedFigures,
  { atMs, remaining, moreAfterMs, resetAfterMs, debt }: TakeResult,
  sentAtMs: number,
  receivedAtMs: number,
): CachedFigures | undefined {
  const isTold = policy.spec.kind === 'token-bucket' || moreAfterMs >= resetAfterMs
  if (policy.isBan || figures.allowed || !isTold) return undefined
  const after = { allowed: false, remaining, resetAfterMs, retryAfterMs: moreAfterMs, moreAfterMs }
  const taken = debt === undefined ? after : { ...after, debt }
  return { policy, cost, figures: taken, atMs, sentAtMs, receivedAtMs, minUntilMs }
}

/** Returns the figures of a banned key after another ban, which may last longer. */
export function figuresAfterBlock(
  cached: CachedFigures,
  { atMs, moreAfterMs, resetAfterMs, bannedForMs: retryAfterMs }: BlockResult,
  sentAtMs: number,
  receivedAtMs: number,
): CachedFigures | undefined {
  const { figures } = cached
  const { unitsAfterMs = figures.resetAfterMs } = figures
  if (figures.allowed || !isEndOfBan(figures)) return undefined
  const banned = { ...figures, moreAfterMs, resetAfterMs, retryAfterMs, unitsAfterMs }
  return { ...cached, figures: banned, atMs, sentAtMs, receivedAtMs }
}
