import { banHints } from '../options/hints/policy-hints.js'
import { readOptions, withDefault } from '../options/option-table.js'
import { readTogether } from '../options/problems.js'
import { type Duration, durationMs } from '../util/durations.js'
import { choice, wholeNumber, wrongOption } from '../util/validate.js'
import { type BaseKind, isPolicy, type Policy, type State, type Step } from './policy.js'

/** Options of `ban`. */
export interface BanOptions {
  /** How many denials begin a ban. A whole number of at least 1. */
  after: number
  /** The time within which they have to come, counted from the first of them. */
  within: Duration
  /** How long the first ban lasts, the second, and so on, never shorter; the last one repeats. */
  for: Duration | readonly Duration[]
  /** What an attempt during a ban does. `'restart'` begins the same ban anew. Default `'nothing'`. */
  onAttempt?: 'nothing' | 'restart'
}

/** The numbers that a ban adds to the state of its policy. All of them 0 = a clean record. */
interface BanRecord {
  /** Denials so far, and until when they count. */
  readonly strikes: number
  readonly strikesUntilMs: number
  /** Which ban was the last one, from 1, and until when it lasts. */
  readonly level: number
  readonly bannedUntilMs: number
}

const CLEAN: BanRecord = { strikes: 0, strikesUntilMs: 0, level: 0, bannedUntilMs: 0 }
const RECORD_WIDTH = 4
/** Scripts find the parameters of a ban behind three of its policy, of which some may be padding. */
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
 * Creates a policy that bans those who are denied again and again: `after` denials by `policy` in `within`
 * begin a ban, in which everything is denied for as long as `for` says. Each further ban is the next of
 * `for`. The escalation resets once a client has gone the length of the longest ban, counted from the end of
 * the last, without a new one.
 *
 * State: that of the policy; then the denials, until when they count, the number of the last ban, and its
 * end.
 *
 * **Bound.** That of the policy: a ban only denies. A denial counts where this policy denies; one by another
 * limit of the same charge does not.
 *
 * **Clock.** After a clock that was ahead, nobody is banned for longer than the longest ban.
 *
 * **Refunds** go to the policy; they end no ban and take back no denial. `forget` does.
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
  const fix =
    "Write ban(slidingWindow({ limit: 5, window: '15m' }), { after: 5, within: '15m', for: ['15m', '1h'] })."
  throw wrongOption('ban', 'policy', 'a policy that is no ban', policy, fix)
}

/** Returns whether a policy counts its denials. */
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

interface BanNumbers {
  readonly after: number
  readonly withinMs: number
  readonly restarts: boolean
  readonly bansMs: readonly number[]
}

function makeBan(inner: Policy, numbers: BanNumbers): Policy {
  const { after, withinMs, restarts, bansMs } = numbers
  const longestMs = bansMs.at(-1) as number
  const banMs = (level: number) => bansMs[level - 1] ?? longestMs

  function take(state: State | undefined, nowMs: number, cost: number): Step {
    const { own, record, isClamped } = read(state, nowMs)
    const step = inner.take(own, nowMs, cost)
    if (cost > 0 && record.bannedUntilMs > nowMs) {
      const untaken = step.allowed ? inner.take(own, nowMs, 0) : step
      const denial = { ...untaken, allowed: false }
      if (!restarts) return withBan(denial, own, record, nowMs, isClamped ? stateOf(own, record) : undefined)
      return counted(denial, own, { ...record, bannedUntilMs: nowMs + banMs(record.level) }, nowMs)
    }
    if (step.allowed) return withBan(step, own, record, nowMs, step.next && stateOf(step.next, record))
    return counted(step, own, strike(record, nowMs), nowMs)
  }

  function counted(step: Step, own: State | undefined, record: BanRecord, nowMs: number): Step {
    return { ...withBan(step, own, record, nowMs, stateOf(own, record)), isCounted: true }
  }

  /** Returns a step of the policy with the figures of a record, and the state to keep. */
  function withBan(
    step: Step,
    own: State | undefined,
    record: BanRecord,
    nowMs: number,
    next: State | undefined,
  ): Step {
    const resetAfterMs = Math.max(step.resetAfterMs, cleanAfterMs(record, nowMs))
    const endsAfterMs = Math.max(0, record.bannedUntilMs - nowMs)
    if (endsAfterMs === 0) return { ...step, resetAfterMs, next }
    const atEnd = inner.take(own, nowMs + endsAfterMs, 0)
    const moreAfterMs = endsAfterMs + (atEnd.remaining > 0 ? 0 : atEnd.moreAfterMs)
    const retryAfterMs = step.allowed ? 0 : Math.max(step.retryAfterMs, endsAfterMs)
    return { allowed: step.allowed, remaining: 0, resetAfterMs, retryAfterMs, moreAfterMs, next }
  }

  /** Returns the record with one more denial, which may begin a ban. */
  function strike(record: BanRecord, nowMs: number): BanRecord {
    const goesOn = record.strikesUntilMs > nowMs
    const strikes = goesOn ? record.strikes + 1 : 1
    if (strikes < after)
      return { ...record, strikes, strikesUntilMs: goesOn ? record.strikesUntilMs : nowMs + withinMs }
    const escalates = record.bannedUntilMs + longestMs > nowMs
    const level = escalates ? Math.min(record.level + 1, bansMs.length) : 1
    return { strikes: 0, strikesUntilMs: 0, level, bannedUntilMs: nowMs + banMs(level) }
  }

  /** Returns the time until a record equals a clean one. */
  function cleanAfterMs({ strikesUntilMs, level, bannedUntilMs }: BanRecord, nowMs: number): number {
    return Math.max(0, strikesUntilMs - nowMs, level > 0 ? bannedUntilMs + longestMs - nowMs : 0)
  }

  function clampToNow(state: State | undefined, nowMs: number): State | undefined {
    const { own, record, isClamped } = read(state, nowMs)
    return isClamped ? stateOf(own, record) : state
  }

  /** Returns the two parts of a state, clamped. */
  function read(state: State | undefined, nowMs: number) {
    const own = state?.slice(0, inner.width)
    const record = recordIn(state)
    const clampedOwn = inner.clampToNow(own, nowMs)
    const strikesUntilMs = Math.min(record.strikesUntilMs, nowMs + withinMs)
    const bannedUntilMs = Math.min(record.bannedUntilMs, nowMs + longestMs)
    const isAhead = strikesUntilMs < record.strikesUntilMs || bannedUntilMs < record.bannedUntilMs
    if (clampedOwn === own && !isAhead) return { own, record, isClamped: false }
    return { own: clampedOwn, record: { ...record, strikesUntilMs, bannedUntilMs }, isClamped: true }
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
    return left === undefined && cleanAfterMs(record, nowMs) === 0 ? undefined : stateOf(left, record)
  }

  function recordIn(state: State | undefined): BanRecord {
    if (state === undefined) return CLEAN
    const [strikes = 0, strikesUntilMs = 0, level = 0, bannedUntilMs = 0] = state.slice(inner.width)
    return { strikes, strikesUntilMs, level, bannedUntilMs }
  }

  function stateOf(own: State = new Array<number>(inner.width).fill(0), record: BanRecord): State {
    return [...own, record.strikes, record.strikesUntilMs, record.level, record.bannedUntilMs]
  }

  const { kind, name, limit, windowMs, width, params } = inner
  const padded = Array.from({ length: INNER_PARAMS }, (_, i) => params[i] ?? 0)
  return Object.freeze({
    kind: `ban-${kind as BaseKind}` as const,
    name,
    limit,
    windowMs,
    width: width + RECORD_WIDTH,
    params: Object.freeze([...padded, after, withinMs, restarts ? 1 : 0, ...bansMs]),
    take,
    refund,
    clampToNow,
    scaled: (share: number) => makeBan(inner.scaled(share), numbers),
  })
}
