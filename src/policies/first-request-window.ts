import { type Policy, type State, type Step, shareOf } from './policy.js'
import { prepaidUntilReset } from './prepaid.js'

/**
 * Creates the policy of `fixedWindow({ startsAt: 'first-request' })`: a window begins with the first charge
 * of a key, and the first charge after its end begins the next one. State: when the window began, and the
 * count.
 *
 * **Bound.** The windows of a key never overlap, so any span of one window's length meets at most two, each
 * with at most `limit`: at most `2 × limit` units.
 *
 * **Clock.** After the clock steps back, a window that began after now begins now, and lasts a whole window
 * from then on: the step grants nothing, and nobody waits for longer than one window. If the clock then
 * steps forward again, that window may be shorter by that step, and prepaid units be used as long after its
 * end.
 *
 * **Refunds** reach only the window in which the units were taken. It ends when it would have ended without
 * them, unless none are left: then the next charge begins a window.
 */
export function firstRequestWindow(name: string, limit: number, windowMs: number): Policy {
  function take(state: State | undefined, nowMs: number, cost: number): Step {
    const clamped = clampToNow(state, nowMs)
    const [startsAtMs, before] = windowAt(clamped, nowMs)
    const allowed = cost === 0 || before + cost <= limit
    const count = allowed ? before + cost : before
    const endsAfterMs = startsAtMs + windowMs - nowMs
    const resetAfterMs = count === 0 ? 0 : endsAfterMs
    const retryAfterMs = allowed ? 0 : cost > limit ? Number.POSITIVE_INFINITY : endsAfterMs
    const kept = allowed ? [startsAtMs, count] : clamped
    const next = cost === 0 || kept === state ? undefined : kept
    const remaining = Math.max(0, limit - count)
    return { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs: resetAfterMs, next }
  }

  /** Returns the window that counts a charge at `nowMs`: the state's, or one that begins now. */
  function windowAt(state: State | undefined, nowMs: number): readonly [startsAtMs: number, count: number] {
    if (state === undefined) return [nowMs, 0]
    const [startsAtMs, count] = state as readonly [number, number]
    return count > 0 && nowMs < startsAtMs + windowMs ? [startsAtMs, count] : [nowMs, 0]
  }

  function clampToNow(state: State | undefined, nowMs: number): State | undefined {
    return state && (state[0] as number) > nowMs ? [nowMs, state[1] as number] : state
  }

  function refund(state: State, _nowMs: number, cost: number, takenAtMs: number): State | undefined {
    const [startsAtMs, count] = state as readonly [number, number]
    const isOwn = startsAtMs <= takenAtMs && takenAtMs < startsAtMs + windowMs
    if (cost === 0 || !isOwn) return state
    return count > cost ? [startsAtMs, count - cost] : undefined
  }

  function reward(state: State, nowMs: number, units: number): State | undefined {
    const [startsAtMs, count] = windowAt(clampToNow(state, nowMs), nowMs)
    if (units === 0) return state
    return count > units ? [startsAtMs, count - units] : undefined
  }

  return Object.freeze<Policy>({
    spec: Object.freeze({ kind: 'first-request-window', limit, windowMs }),
    name,
    limit,
    windowMs,
    width: 2,
    take,
    refund,
    reward,
    clampToNow,
    prepaid: prepaidUntilReset,
    scale: (share) => firstRequestWindow(name, shareOf(limit, share), windowMs),
  })
}
