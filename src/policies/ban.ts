import { readOptions, type Settings, withDefault } from '../options/option-table.js'
import { type Duration, durationMs } from '../util/durations.js'
import { choice, wholeNumber, wrongOption } from '../util/validate.js'
import { isConcurrency } from './concurrency.js'
import { type BaseKind, isPolicy, type Policy, type State, type Step } from './policy.js'

/** Options of `ban`. */
export interface BanOptions {
  /** How many denials start a ban. A whole number of at least 1. */
  after: number
  /** The time in which these denials count, from the first of them. */
  within: Duration
  /** How long each ban in a row lasts, none shorter than the one before; the last one repeats. */
  for: Duration | readonly Duration[]
  /** What an attempt during a ban does. `'restart'` starts the same ban over. Default `'nothing'`. */
  onAttempt?: 'nothing' | 'restart'
}

/** The numbers that a ban adds to the state of its inner policy. All 0 = a clean record. */
interface BanRecord {
  /** Denials so far, and when they cease to count. */
  readonly strikes: number
  readonly strikesUntilMs: number
  /** The number of the last ban, from 1, and when it ends. */
  readonly level: number
  readonly bannedUntilMs: number
}

const RECORD_WIDTH = 4
const CLEAN: BanRecord = { strikes: 0, strikesUntilMs: 0, level: 0, bannedUntilMs: 0 }
/** In `params`, the inner policy's come first, padded to this length; the ban's own follow. */
const INNER_PARAMS = 3
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
 * Creates a policy with escalating bans: `after` denials by `policy` in `within` start a ban, during which
 * everything is denied. The first ban lasts the first duration of `for`, the next one the second, and so on.
 * The escalation resets once a client has gone the length of the longest ban, counted from the end of the
 * last, without a new one.
 *
 * State: that of `policy`, then the number of denials, when they cease to count, the number of the last ban,
 * and its end.
 *
 * **Bound.** That of `policy`: a ban only denies. Only denials by `policy` count, not those by another limit
 * of the same charge.
 *
 * **Clock.** After a clock that was ahead, nobody is banned for longer than the longest ban.
 *
 * **Refunds** go to `policy`; they neither end a ban nor remove a denial. `forget` does both.
 *
 * Throws a `TypeError` for wrong options, and for a ban of a ban or of `concurrency`.
 */
export function ban(policy: Policy, options: BanOptions): Policy {
  if (!isPolicy(policy) || isBan(policy))
    throw wrongOption('ban', 'policy', 'a policy that is not a ban', policy, FIX)
  if (isConcurrency(policy))
    throw wrongOption('ban', 'policy', 'a policy other than concurrency', policy, FIX)
  return makeBan(policy, readOptions('ban', options, OPTIONS))
}

/** Returns whether a policy is a ban, and so counts its denials. */
export function isBan({ kind }: Policy): boolean {
  return kind.startsWith('ban-')
}

/** Returns the length of the longest ban of a `ban` policy. */
export function longestBanMs({ params }: Policy): number {
  return params.at(-1) as number
}

/** Returns how long a ban in the state of a `ban` policy still lasts; 0 where there is none. */
export function banLeftMs({ width }: Policy, state: State, nowMs: number): number {
  return Math.max(0, (state[width - 1] as number) - nowMs)
}

/**
 * Returns the state of a `ban` policy with a ban by hand of `banMs`, at most the longest of the policy. It
 * counts as a first ban for those that follow, and never ends a longer one.
 */
export function startBan(policy: Policy, state: State | undefined, nowMs: number, banMs: number): State {
  const at = policy.width - RECORD_WIDTH
  const before = state ?? new Array<number>(policy.width).fill(0)
  const [level = 0, untilMs = 0] = before.slice(at + 2)
  const escalates = untilMs + longestBanMs(policy) > nowMs
  const bannedUntilMs = Math.max(untilMs, nowMs + banMs)
  return [...before.slice(0, at), 0, 0, escalates ? Math.max(1, level) : 1, bannedUntilMs]
}

function readBans(owner: string, option: string, value: unknown): readonly number[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const bansMs = list.map((each) => durationMs(owner, option, each))
  const grows = bansMs.every((banMs, i) => i === 0 || banMs >= (bansMs[i - 1] as number))
  if (grows && bansMs.length > 0 && bansMs.length <= MAX_BANS) return bansMs
  const must = `1 to ${MAX_BANS} durations, none shorter than the one before`
  throw wrongOption(owner, option, must, value, "Did you mean for: ['1m', '10m', '1h']?")
}

function makeBan(inner: Policy, settings: Settings<typeof OPTIONS.rows>): Policy {
  const { after, within: withinMs, for: bansMs, onAttempt } = settings
  const longestMs = bansMs.at(-1) as number
  const banMs = (level: number) => bansMs[level - 1] ?? longestMs

  function take(state: State | undefined, nowMs: number, cost: number): Step {
    const clamped = clampToNow(state, nowMs)
    const { own, record } = split(clamped)
    const step = inner.take(own, nowMs, cost)
    if (cost > 0 && record.bannedUntilMs > nowMs) {
      const untaken = step.allowed ? inner.take(own, nowMs, 0) : step
      const denial = { ...untaken, allowed: false }
      if (onAttempt === 'nothing')
        return withBan(denial, own, record, nowMs, clamped === state ? undefined : clamped)
      // Never shorter than before: a ban by hand may be longer than its level.
      const bannedUntilMs = Math.max(record.bannedUntilMs, nowMs + banMs(record.level))
      return countDenial(denial, own, { ...record, bannedUntilMs }, nowMs)
    }
    if (step.allowed) return withBan(step, own, record, nowMs, step.next && stateOf(step.next, record))
    return countDenial(step, own, strike(record, nowMs), nowMs)
  }

  function countDenial(step: Step, own: State | undefined, record: BanRecord, nowMs: number): Step {
    return { ...withBan(step, own, record, nowMs, stateOf(own, record)), isCounted: true }
  }

  /** Returns a step of the inner policy, extended by the record's figures and the state to keep. */
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

  /** Returns the record with one more denial, which may start a ban. */
  function strike(record: BanRecord, nowMs: number): BanRecord {
    const isRunning = record.strikesUntilMs > nowMs
    const strikes = isRunning ? record.strikes + 1 : 1
    const strikesUntilMs = isRunning ? record.strikesUntilMs : nowMs + withinMs
    if (strikes < after) return { ...record, strikes, strikesUntilMs }
    const escalates = record.bannedUntilMs + longestMs > nowMs
    const level = escalates ? Math.min(record.level + 1, bansMs.length) : 1
    return { strikes: 0, strikesUntilMs: 0, level, bannedUntilMs: nowMs + banMs(level) }
  }

  /** Returns the time until a record equals a clean one. */
  function cleanAfterMs({ strikesUntilMs, level, bannedUntilMs }: BanRecord, nowMs: number): number {
    return Math.max(0, strikesUntilMs - nowMs, level > 0 ? bannedUntilMs + longestMs - nowMs : 0)
  }

  function clampToNow(state: State | undefined, nowMs: number): State | undefined {
    if (state === undefined) return undefined
    const { own, record } = split(state)
    const clampedOwn = inner.clampToNow(own, nowMs)
    const strikesUntilMs = Math.min(record.strikesUntilMs, nowMs + withinMs)
    const bannedUntilMs = Math.min(record.bannedUntilMs, nowMs + longestMs)
    const isAhead = strikesUntilMs < record.strikesUntilMs || bannedUntilMs < record.bannedUntilMs
    if (clampedOwn === own && !isAhead) return state
    return stateOf(clampedOwn, { ...record, strikesUntilMs, bannedUntilMs })
  }

  /** Returns a state whose inner state was changed by `giveBack`. */
  function changeOwn(state: State, nowMs: number, giveBack: (own: State) => State | undefined) {
    const { own = [], record } = split(state)
    const left = giveBack(own)
    if (left === own) return state
    return left === undefined && cleanAfterMs(record, nowMs) === 0 ? undefined : stateOf(left, record)
  }

  /** Returns the state of the inner policy, and the ban's record. */
  function split(state: State | undefined): { own: State | undefined; record: BanRecord } {
    if (state === undefined) return { own: undefined, record: CLEAN }
    const at = inner.width
    const record = {
      strikes: state[at] as number,
      strikesUntilMs: state[at + 1] as number,
      level: state[at + 2] as number,
      bannedUntilMs: state[at + 3] as number,
    }
    return { own: state.slice(0, at), record }
  }

  function stateOf(own: State = new Array<number>(inner.width).fill(0), record: BanRecord): State {
    return [...own, record.strikes, record.strikesUntilMs, record.level, record.bannedUntilMs]
  }

  const { kind, name, limit, windowMs, width, params } = inner
  const padded = Array.from({ length: INNER_PARAMS }, (_, i) => params[i] ?? 0)
  return Object.freeze<Policy>({
    kind: `ban-${kind as BaseKind}`,
    name,
    limit,
    windowMs,
    width: width + RECORD_WIDTH,
    params: Object.freeze([...padded, after, withinMs, onAttempt === 'restart' ? 1 : 0, ...bansMs]),
    take,
    refund: (state, nowMs, ...taken) => changeOwn(state, nowMs, (own) => inner.refund(own, nowMs, ...taken)),
    reward: (state, nowMs, units) => changeOwn(state, nowMs, (own) => inner.reward(own, nowMs, units)),
    clampToNow,
    scale: (share) => makeBan(inner.scale(share), settings),
  })
}
