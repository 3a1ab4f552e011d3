import { readRows, withDefault } from '../options/option-table.js'
import { type Duration, durationMs } from '../util/durations.js'
import { choice, wholeNumber, wrongOption } from '../util/validate.js'
import {
  type BanRecord,
  type BanRules,
  blockFor,
  clampRecord,
  cleanAfterMs,
  joinState,
  longestOf,
  RECORD_WIDTH,
  restart,
  splitState,
  strike,
} from './ban-escalation.js'
import { judgeDenials } from './judge-denials.js'
import { isPolicy, type Policy, type State, type Step } from './policy.js'
import type { BaseSpec } from './spec.js'

/** Options of `ban`. */
export interface BanOptions {
  /** How many denials within `within` start a ban. A whole number of at least 1. */
  after: number
  /** How long denials count, from the first of them, such as `'10m'`. */
  within: Duration
  /**
   * How long each ban in a row lasts: a duration, or an array of them. None may be shorter than the one
   * before. The last one repeats.
   */
  for: Duration | readonly Duration[]
  /** What an attempt during a ban does: `'restart'` starts the same ban over. Default `'nothing'`. */
  onAttempt?: 'nothing' | 'restart'
}

const MAX_BANS = 16
const FIX =
  "Write ban(slidingWindow({ limit: 5, window: '15m' }), { after: 5, within: '15m', for: ['15m', '1h'] })."

const OPTIONS = {
  rows: {
    after: wholeNumber,
    within: durationMs,
    for: readBans,
    onAttempt: withDefault('nothing', choice('nothing', 'restart')),
  },
  fixes: {
    limit: 'after',
    max: 'after',
    window: 'within',
    durations: 'for',
    duration: "Write for: '10m', with its unit.",
    blockDuration: 'duration',
  },
}

/**
 * Creates a policy that bans clients for repeated denials by another policy. After `after` denials by `policy`
 * in `within`, a ban starts, and everything is denied.
 *
 * The first ban lasts the first duration of `for`, the next one the second, and so on. If a client gets no
 * new ban within the length of the longest one after its last ban ends, it starts from the first duration
 * again.
 *
 * **Bound.** That of `policy`, because a ban only denies. Denials by another limit of the same charge do not
 * count.
 *
 * **Clock.** If a clock was ahead, a ban that it started starts over now, with its full length.
 *
 * **Refunds** go to `policy`. They neither end a ban nor remove a denial. `forget` does both.
 *
 * **Change of numbers.** A running ban keeps its length. Denials count for as long as the new `within` says.
 *
 * **State.** That of `policy` (zeros if it is fresh), then the number of denials, when the first of them came
 * (or the ban began), the number of the last ban, and its end.
 *
 * Throws a `TypeError` for wrong options, and for a ban of a ban or of `concurrency`.
 *
 * @example
 * ```ts
 * import { ban, rateLimit, tokenBucket } from 'headgate'
 *
 * const base = tokenBucket({ capacity: 20, refill: 20, every: '1m' })
 * // 100 denials in 10 minutes start a ban: of 5 minutes, then an hour, then a day.
 * const policy = ban(base, { after: 100, within: '10m', for: ['5m', '1h', '1d'] })
 * const api = rateLimit({ policy })
 * ```
 */
export function ban(policy: Policy, options: BanOptions): Policy {
  if (!isPolicy(policy) || policy.isBan)
    throw wrongOption('ban', 'policy', 'a policy that is not a ban', policy, FIX)
  if (policy.holdsUnits) throw wrongOption('ban', 'policy', 'a policy other than concurrency', policy, FIX)
  const { after, within: withinMs, for: bansMs, onAttempt } = readRows('ban', options, OPTIONS)
  return makeBan(policy, { after, withinMs, bansMs, onAttempt })
}

function readBans(owner: string, option: string, value: unknown): readonly number[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const bansMs = list.map((each) => durationMs(owner, option, each))
  const grows = bansMs.every((banMs, i) => banMs >= (bansMs[i - 1] ?? 0))
  if (grows && bansMs.length > 0 && bansMs.length <= MAX_BANS) return Object.freeze(bansMs)
  const must = `1 to ${MAX_BANS} durations, none shorter than the one before`
  throw wrongOption(owner, option, must, value, "Did you mean for: ['1m', '10m', '1h']?")
}

function makeBan(base: Policy, rules: BanRules): Policy {
  const zeros: State = new Array<number>(base.width ?? 0).fill(0)
  const stateOf = (baseState: State | undefined, record: BanRecord) => joinState(baseState ?? zeros, record)

  function take(state: State | undefined, nowMs: number, cost: number, mayOwe = false): Step {
    const clamped = clampToNow(state, nowMs)
    const { baseState, record } = splitState(clamped)
    const step = base.take(baseState, nowMs, cost, mayOwe)
    if (cost > 0 && record.bannedUntilMs > nowMs) {
      const untaken = step.allowed ? base.take(baseState, nowMs, 0) : step
      const denial = { ...untaken, allowed: false }
      if (rules.onAttempt === 'nothing')
        return withBan(denial, baseState, record, nowMs, clamped === state ? undefined : clamped)
      return countDenial(denial, baseState, restart(rules, record, nowMs), nowMs)
    }
    if (step.allowed) return withBan(step, baseState, record, nowMs, step.next && stateOf(step.next, record))
    if (rules.after === 0)
      return withBan(step, baseState, record, nowMs, clamped === state ? undefined : clamped)
    return countDenial(step, baseState, strike(rules, record, nowMs), nowMs)
  }

  function countDenial(step: Step, baseState: State | undefined, record: BanRecord, nowMs: number): Step {
    return { ...withBan(step, baseState, record, nowMs, stateOf(baseState, record)), isCounted: true }
  }

  /** Returns a step of the base policy, extended by the record's figures and the state to keep. */
  function withBan(
    step: Step,
    baseState: State | undefined,
    record: BanRecord,
    nowMs: number,
    next: State | undefined,
  ): Step {
    const resetAfterMs = Math.max(step.resetAfterMs, cleanAfterMs(rules, record, nowMs))
    const endsAfterMs = Math.max(0, record.bannedUntilMs - nowMs)
    if (endsAfterMs === 0 && resetAfterMs === step.resetAfterMs) return { ...step, next }
    const unitsAfterMs = step.resetAfterMs
    if (endsAfterMs === 0) return { ...step, resetAfterMs, unitsAfterMs, next }
    const atEnd = base.take(baseState, nowMs + endsAfterMs, 0)
    const moreAfterMs = endsAfterMs + (atEnd.remaining > 0 ? 0 : atEnd.moreAfterMs)
    const retryAfterMs = step.allowed ? 0 : Math.max(step.retryAfterMs, endsAfterMs)
    const { allowed, debt } = step
    const figures = { allowed, remaining: 0, resetAfterMs, unitsAfterMs, retryAfterMs, moreAfterMs, next }
    return { ...figures, ...(!allowed && { isBanned: true }), ...(debt !== undefined && { debt }) }
  }

  function clampToNow(state: State | undefined, nowMs: number): State | undefined {
    if (state === undefined) return undefined
    const { baseState, record } = splitState(state)
    const clampedBase = base.clampToNow(baseState, nowMs)
    const clamped = clampRecord(record, nowMs)
    return clampedBase === baseState && clamped === record ? state : stateOf(clampedBase, clamped)
  }

  /** Returns a state whose base state was changed by `giveBack`. */
  function changeBase(state: State, nowMs: number, giveBack: (baseState: State) => State | undefined) {
    const { baseState = [], record } = splitState(state)
    const after = giveBack(baseState)
    if (after === baseState) return state
    const isFresh = after === undefined && cleanAfterMs(rules, record, nowMs) === 0
    return isFresh ? undefined : stateOf(after, record)
  }

  const { name, limit, windowMs, width } = base
  return Object.freeze<Policy>({
    spec: Object.freeze({ kind: 'ban', base: base.spec as BaseSpec, ...rules }),
    name,
    limit,
    windowMs,
    ...(width !== undefined && { width: width + RECORD_WIDTH }),
    ...(base.periodAt && { periodAt: base.periodAt }),
    ...(base.shift && { shift: base.shift }),
    debt: base.debt ?? 0,
    isBan: true,
    ...(rules.after > 0 && {
      uncounted: makeBan(base, { ...rules, after: 0, onAttempt: 'nothing' }),
      judgeDenials,
    }),
    longestBanMs: longestOf(rules),
    take,
    refund: (state, nowMs, ...taken) =>
      changeBase(state, nowMs, (baseState) => base.refund(baseState, nowMs, ...taken)),
    reward: (state, nowMs, units) =>
      changeBase(state, nowMs, (baseState) => base.reward(baseState, nowMs, units)),
    block(state, nowMs, forMs) {
      const { baseState, record } = splitState(state)
      return stateOf(baseState, blockFor(rules, record, nowMs, forMs))
    },
    bannedForMs: (state, nowMs) => Math.max(0, splitState(state).record.bannedUntilMs - nowMs),
    clampToNow,
    scale: (share) => makeBan(base.scale(share), rules),
  })
}
