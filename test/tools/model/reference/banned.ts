import type { Reference } from './reference.js'

/** How denials become bans. */
export interface BanRules {
  readonly after: number
  readonly withinMs: number
  readonly bansMs: readonly number[]
  readonly onAttempt: 'nothing' | 'restart'
}

/** The state of the wrapped policy, the denials since a time, and the last ban. */
interface Banned<S> {
  readonly base: S
  readonly denials: number
  /** When the first of the denials came, or when the last ban began. */
  readonly sinceMs: number
  /** The number of the last ban in a row, from 1. */
  readonly ban: number
  readonly untilMs: number
}

/** A policy whose denials start bans, each as long as its number in a row says. */
export function banned<S>(base: Reference<S>, rules: BanRules): Reference<Banned<S>> {
  const longestMs = Math.max(...rules.bansMs)
  const lengthOf = (ban: number) => rules.bansMs[Math.min(ban, rules.bansMs.length) - 1] as number
  const isBanned = ({ untilMs }: Banned<S>, nowMs: number) => untilMs > nowMs
  /** Whether the client has not yet gone the length of the longest ban without a new one. */
  const isRepeated = ({ ban, untilMs }: Banned<S>, nowMs: number) => ban > 0 && untilMs + longestMs > nowMs

  /** What a clock that was ahead has begun begins now. The end of a ban before it is not later than that. */
  function settle(before: Banned<S>, nowMs: number): Banned<S> {
    const state = { ...before, base: base.settle(before.base, nowMs) }
    const { sinceMs, untilMs } = state
    if (sinceMs <= nowMs) return state
    const isBan = untilMs > sinceMs
    return { ...state, sinceMs: nowMs, untilMs: isBan ? untilMs - sinceMs + nowMs : Math.min(untilMs, nowMs) }
  }

  function startBan(state: Banned<S>, nowMs: number, ban: number, untilMs: number): Banned<S> {
    return { base: state.base, denials: 0, sinceMs: nowMs, ban, untilMs }
  }

  function deny(before: Banned<S>, nowMs: number): Banned<S> {
    const state = settle(before, nowMs)
    if (isBanned(state, nowMs)) {
      if (rules.onAttempt === 'nothing') return state
      return startBan(state, nowMs, state.ban, Math.max(state.untilMs, nowMs + lengthOf(state.ban)))
    }
    const isCounting = state.denials > 0 && state.sinceMs + rules.withinMs > nowMs
    const denials = (isCounting ? state.denials : 0) + 1
    if (denials < rules.after) return { ...state, denials, sinceMs: isCounting ? state.sinceMs : nowMs }
    const ban = isRepeated(state, nowMs) ? Math.min(state.ban + 1, rules.bansMs.length) : 1
    return startBan(state, nowMs, ban, nowMs + lengthOf(ban))
  }

  function cleanAfterMs({ denials, sinceMs, ban, untilMs }: Banned<S>, nowMs: number): number {
    const countUntilMs = denials > 0 ? sinceMs + rules.withinMs : 0
    return Math.max(0, countUntilMs - nowMs, ban > 0 ? untilMs + longestMs - nowMs : 0)
  }

  const fresh = (): Banned<S> => ({ base: base.fresh(), denials: 0, sinceMs: 0, ban: 0, untilMs: 0 })

  /** Forgets a ban that counts no longer, once units given back leave nothing in use. */
  function withBase(state: Banned<S>, nowMs: number, after: S): Banned<S> {
    if (after === state.base) return state
    const isFresh = base.figures(after, nowMs).resetAfterMs === 0 && cleanAfterMs(state, nowMs) === 0
    return isFresh ? fresh() : { ...state, base: after }
  }

  return {
    limit: base.limit,
    fresh,
    figures(before, nowMs) {
      const state = settle(before, nowMs)
      const own = base.figures(state.base, nowMs)
      const resetAfterMs = Math.max(own.resetAfterMs, cleanAfterMs(state, nowMs))
      if (!isBanned(state, nowMs)) return { ...own, resetAfterMs }
      const bannedForMs = state.untilMs - nowMs
      const atEnd = base.figures(state.base, nowMs + bannedForMs)
      const moreAfterMs = bannedForMs + (atEnd.remaining > 0 ? 0 : atEnd.moreAfterMs)
      return { remaining: 0, moreAfterMs, resetAfterMs, bannedForMs }
    },
    take(before, nowMs, cost) {
      const state = settle(before, nowMs)
      const taken = isBanned(state, nowMs) ? undefined : base.take(state.base, nowMs, cost)
      return taken === undefined ? undefined : { ...state, base: taken }
    },
    retryAfterMs(before, nowMs, cost) {
      const state = settle(before, nowMs)
      const isAllowed = base.take(state.base, nowMs, cost) !== undefined
      const ownMs = isAllowed ? 0 : base.retryAfterMs(state.base, nowMs, cost)
      return Math.max(ownMs, state.untilMs - nowMs)
    },
    settle,
    deny,
    refund: (state, nowMs, taken) => withBase(state, nowMs, base.refund(state.base, nowMs, taken)),
    reward: (state, nowMs, units) => {
      const settled = settle(state, nowMs)
      return withBase(settled, nowMs, base.reward(settled.base, nowMs, units))
    },
    block(before, nowMs, forMs) {
      const state = settle(before, nowMs)
      const ban = isRepeated(state, nowMs) ? state.ban : 1
      return startBan(state, nowMs, ban, Math.max(state.untilMs, nowMs + forMs))
    },
  }
}
