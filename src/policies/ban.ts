import { banHints } from '../options/hints/policy-hints.js'
import { readOptions, withDefault } from '../options/option-table.js'
import { readTogether } from '../options/problems.js'
import { type Duration, durationMs } from '../util/durations.js'
import { choice, wholeNumber, wrongOption } from '../util/validate.js'
import { type BaseKind, isPolicy, type Policy, type State, type Step } from './policy.js'

/** When somebody is banned, and for how long. */
export interface BanOptions {
  /** So many denials are one too many. A whole number of at least 1. */
  after: number
  /** The time in which they have to come, counted from the first of them. */
  within: Duration
  /** How long the first ban lasts, the second, and so on; the last one repeats. None is shorter than the one before. */
  for: Duration | readonly Duration[]
  /** What an attempt during a ban does: `'nothing'` (the default), or `'restart'`, which begins the same ban anew. */
  onAttempt?: 'nothing' | 'restart'
}

/** What a ban adds to the state of its policy. All 0 = nothing against anybody. */
interface Record {
  /** DenialCache so far, and until when they count. */
  readonly strikes: number
  readonly strikesUntilMs: number
  /** Which ban was the last one, from 1, and until when it lasts. */
  readonly level: number
  readonly bannedUntilMs: number
}

const CLEAN: Record = { strikes: 0, strikesUntilMs: 0, level: 0, bannedUntilMs: 0 }
const RECORD_WIDTH = 4
/** Parameters of a policy that can be banned from; fewer are filled up with 0, so that a script finds those of the ban. */
const INNER_PARAMS = 3
const MAX_BANS = 16

const OPTIONS = {
  rows: {
    after: wholeNumber,
    within: durationMs,
    for: readBans,
    onAttempt: withDefault('nothing', choice('nothing', 'restart')),
  },
  renamed: { durations: 'for', window: 'within', limit: 'after', max: 'after' },
  hint: banHints,
}

/**
 * A policy from which those are banned, for growing times, who are denied again and again: after `after` denials in `within`
 * everything is denied for as long as `for` says. An attempt during a ban is denied and counts for nothing. Who begins no new
 * ban for as long as the longest one lasts, counted from the end of the last, begins with the first one again.
 *
 * State: that of the policy; then denials, until when they count, the number of the last ban, and until when it lasts.
 *
 * **Bound.** That of the policy: a ban only denies. DenialCache by a part alone count; those by other limits of the same charge do not.
 *
 * **Clock.** After a clock that was ahead, nobody is banned for longer than the longest ban.
 *
 * **Refunds** give units back to the policy; they end no ban and take back no denial. `forget` does.
 *
 * Throws a `TypeError` for wrong options, and for a ban of a ban.
 */
export function ban(policy: Policy, options: BanOptions): Policy {
  const [inner, { after, within, onAttempt, for: bansMs }] = readTogether(
    'ban',
    () => readInner(policy),
    () => readOptions('ban', options, OPTIONS),
  )
  return makeBan(inner, { after, withinMs: within, restarts: onAttempt === 'restart', bansMs })
}

function readInner(policy: unknown): Policy {
  if (isPolicy(policy) && !isBan(policy)) return policy
  const mend =
    "Write ban(slidingWindow({ limit: 5, window: '15m' }), { after: 5, within: '15m', for: ['15m', '1h'] })."
  throw wrongOption('ban', 'policy', 'a policy that is no ban', policy, mend)
}

/** Whether a policy counts what it denies. */
export function isBan({ kind }: Policy): boolean {
  return kind.startsWith('ban-')
}

function readBans(owner: string, option: string, value: unknown): readonly number[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const bansMs = list.map((each) => durationMs(owner, option, each))
  const grows = bansMs.every((banMs, i) => i === 0 || banMs >= (bansMs[i - 1] as number))
  if (grows && bansMs.length > 0 && bansMs.length <= MAX_BANS) return bansMs
  const must = `1 to ${MAX_BANS} durations, none shorter than the one before`
  throw wrongOption(owner, option, must, value, "Did you mean for: ['1m', '10m', '1h']?")
}

interface Numbers {
  readonly after: number
  readonly withinMs: number
  readonly restarts: boolean
  readonly bansMs: readonly number[]
}

function makeBan(inner: Policy, numbers: Numbers): Policy {
  const { after, withinMs, restarts, bansMs } = numbers
  const longestMs = bansMs.at(-1) as number

  function recordIn(state: State | undefined): Record {
    if (state === undefined) return CLEAN
    const [strikes = 0, strikesUntilMs = 0, level = 0, bannedUntilMs = 0] = state.slice(inner.width)
    return { strikes, strikesUntilMs, level, bannedUntilMs }
  }

  /** A ban from a clock that was ahead lasts for no longer than it could. */
  function bannedForMs({ bannedUntilMs }: Record, nowMs: number): number {
    return Math.max(0, Math.min(bannedUntilMs - nowMs, longestMs))
  }

  function take(state: State | undefined, nowMs: number, cost: number): Step {
    const own = ownState(state)
    const record = recordIn(state)
    if (cost > 0 && bannedForMs(record, nowMs) > 0) return denyBanned(own, record, nowMs, cost)
    const step = inner.take(own, nowMs, cost)
    if (step.allowed) {
      return figures(step, own, record, nowMs, step.next && stateOf(step.next, record))
    }
    const next = struck(record, nowMs)
    return figures(step, own, next, nowMs, stateOf(step.next ?? own, next))
  }

  function denyBanned(own: State | undefined, record: Record, nowMs: number, cost: number): Step {
    const { next: putRight } = inner.take(own, nowMs, Number.POSITIVE_INFINITY) // what a clock that was ahead left behind
    const isAhead = record.bannedUntilMs - nowMs > longestMs
    const bannedUntilMs = nowMs + (restarts ? banMs(record.level) : longestMs)
    const nextRecord = restarts || isAhead ? { ...record, bannedUntilMs } : record
    const isSame = putRight === undefined && nextRecord === record
    const { retryAfterMs } = inner.take(own, nowMs, cost)
    const step = { ...inner.take(own, nowMs, 0), allowed: false, retryAfterMs }
    return figures(step, own, nextRecord, nowMs, isSame ? undefined : stateOf(putRight ?? own, nextRecord))
  }

  function banMs(level: number): number {
    return bansMs[level - 1] ?? longestMs
  }

  /** A record with one denial more, which may begin a ban. */
  function struck(record: Record, nowMs: number): Record {
    const counts = record.strikesUntilMs > nowMs
    const strikes = counts ? record.strikes + 1 : 1
    const strikesUntilMs = counts ? Math.min(record.strikesUntilMs, nowMs + withinMs) : nowMs + withinMs
    if (strikes < after) return { ...record, strikes, strikesUntilMs }
    const isRemembered = record.bannedUntilMs + longestMs > nowMs
    const level = isRemembered ? Math.min(record.level + 1, bansMs.length) : 1
    return { strikes: 0, strikesUntilMs: 0, level, bannedUntilMs: nowMs + banMs(level) }
  }

  function ownState(state: State | undefined): State | undefined {
    return state?.slice(0, inner.width)
  }

  function stateOf(own: State = new Array<number>(inner.width).fill(0), record: Record): State {
    return [...own, record.strikes, record.strikesUntilMs, record.level, record.bannedUntilMs]
  }

  /** What a step of the policy comes to with a record. */
  function figures(
    step: Step,
    own: State | undefined,
    record: Record,
    nowMs: number,
    next: State | undefined,
  ): Step {
    const resetAfterMs = Math.max(step.resetAfterMs, forgottenAfterMs(record, nowMs))
    const endsAfterMs = bannedForMs(record, nowMs)
    const counted = !step.allowed && next !== undefined ? { isCounted: true as const } : {}
    if (endsAfterMs === 0) return { ...step, ...counted, resetAfterMs, next }
    const atEnd = inner.take(own, nowMs + endsAfterMs, 0)
    const moreAfterMs = endsAfterMs + (atEnd.remaining > 0 ? 0 : atEnd.moreAfterMs)
    const retryAfterMs = step.allowed ? 0 : Math.max(step.retryAfterMs, endsAfterMs)
    return { allowed: step.allowed, remaining: 0, resetAfterMs, retryAfterMs, moreAfterMs, ...counted, next }
  }

  /** Until nothing is held against anybody any more. */
  function forgottenAfterMs({ strikesUntilMs, level, bannedUntilMs }: Record, nowMs: number): number {
    const strikesMs = Math.min(strikesUntilMs - nowMs, withinMs)
    const levelMs = Math.min(bannedUntilMs - nowMs, longestMs) + longestMs
    return Math.max(0, strikesMs, level > 0 ? levelMs : 0)
  }

  function refund(
    state: State,
    nowMs: number,
    cost: number,
    takenAtMs: number,
    resetAtMs?: number,
  ): State | undefined {
    const own = state.slice(0, inner.width)
    const record = recordIn(state)
    const left = inner.refund(own, nowMs, cost, takenAtMs, resetAtMs)
    if (left === own) return state
    return left === undefined && forgottenAfterMs(record, nowMs) === 0 ? undefined : stateOf(left, record)
  }

  const { kind, name, limit, windowMs, width, params } = inner
  const filledUp = Array.from({ length: INNER_PARAMS }, (_, i) => params[i] ?? 0)
  return Object.freeze({
    kind: `ban-${kind as BaseKind}` as const,
    name,
    limit,
    windowMs,
    width: width + RECORD_WIDTH,
    params: Object.freeze([...filledUp, after, withinMs, restarts ? 1 : 0, ...bansMs]),
    take,
    refund,
    scaled: (share: number) => makeBan(inner.scaled(share), numbers),
  })
}
