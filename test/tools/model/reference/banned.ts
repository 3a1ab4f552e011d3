import type { Reference } from './reference.js'

/** How denials become bans. */
export interface BanRules {
  readonly after: number
  readonly withinMs: number
  readonly bansMs: readonly number[]
  readonly onAttempt: 'nothing' | 'restart'
}

/** The state of the wrapped policy, the denials that count until a time, and the last ban. */
interface Banned<S> {
  readonly base: S
  readonly denials: number
  readonly countUntilMs: number
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

  function settle(state: Banned<S>, nowMs: number): Banned<S> {
    return {
      ...state,
      base: base.settle(state.base, nowMs),
      countUntilMs: Math.min(state.countUntilMs, nowMs + rules.withinMs),
      untilMs: Math.min(state.untilMs, nowMs + longestMs),
    }
  }

  function startBan(state: Banned<S>, ban: number, untilMs: number): Banned<S> {
    return { base: state.base, denials: 0, countUntilMs: 0, ban, untilMs }
  }

  function deny(before: Banned<S>, nowMs: number): Banned<S> {
    const state = settle(before, nowMs)
    if (isBanned(state, nowMs)) {
      if (rules.onAttempt === 'nothing') return state
      return { ...state, untilMs: Math.max(state.untilMs, nowMs + lengthOf(state.ban)) }
    }
    const isCounting = state.countUntilMs > nowMs
    const denials = (isCounting ? state.denials : 0) + 1
    const countUntilMs = isCounting ? state.countUntilMs : nowMs + rules.withinMs
    if (denials < rules.after) return { ...state, denials, countUntilMs }
    const ban = isRepeated(state, nowMs) ? Math.min(state.ban + 1, rules.bansMs.length) : 1
    return startBan(state, ban, nowMs + lengthOf(ban))
  }

  function cleanAfterMs({ countUntilMs, ban, untilMs }: Banned<S>, nowMs: number): number {
    return Math.max(0, countUntilMs - nowMs, ban > 0 ? untilMs + longestMs - nowMs : 0)
  }

  return {
    limit: base.limit,
    fresh: () => ({ base: base.fresh(), denials: 0, countUntilMs: 0, ban: 0, untilMs: 0 }),
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
    refund: (state, nowMs, taken) => ({ ...state, base: base.refund(state.base, nowMs, taken) }),
    reward: (state, nowMs, units) => {
      const settled = settle(state, nowMs)
      return { ...settled, base: base.reward(settled.base, nowMs, units) }
    },
    block(before, nowMs, forMs) {
      const state = settle(before, nowMs)
      const ban = isRepeated(state, nowMs) ? state.ban : 1
      return startBan(state, ban, Math.max(state.untilMs, nowMs + forMs))
    },
  }
}
