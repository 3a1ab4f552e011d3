import type { LuaPolicy } from './lua-policy.js'

/** What tells the kinds of counted windows apart. A state's first number is its window. */
interface LuaWindow {
  readonly once: string
  /** The latest window that is possible now. */
  readonly latest: string
  /** The window that begins with a charge now. */
  readonly next: string
  /** Whether the state's window has not ended. */
  readonly isCurrent: string
  /** Whether units taken at `taken_at` count in the state's window. */
  readonly holdsTaken: string
  readonly expiry: string
}

/** Returns the policy of counted windows. State: the window, the count. */
function countedWindow({ once, latest, next, isCurrent, holdsTaken, expiry }: LuaWindow): LuaPolicy {
  return {
    once: `
    local limit, window = p[3], p[4]${once}`,
    clamp: `
    if state[1] > ${latest} then state[1], changed = ${latest}, true end`,
    take: `
    local used = ${isCurrent} and state[2] or 0
    allowed = used + cost <= limit
    if allowed then
      if used == 0 then state[1] = ${next} end
      state[2], changed = used + cost, true
    end`,
    refund: `
    changed = ${holdsTaken}
    if changed then state[2] = state[2] - cost end
    is_fresh = state[2] <= 0`,
    left: `
    left = max(0, limit - (${isCurrent} and state[2] or 0))`,
    reward: `
    state[2], changed = (${isCurrent} and state[2] or 0) - cost, true
    is_fresh = state[2] <= 0`,
    expiry: `
    expires_at = ${expiry}`,
  }
}

/** The window is its index. */
export const FIXED_WINDOW = countedWindow({
  once: `
    local now_index = floor(now / window)`,
  latest: 'now_index + 1',
  next: 'now_index',
  isCurrent: 'state[1] >= now_index',
  holdsTaken: 'state[1] == floor(taken_at / window)',
  expiry: '(state[1] + 1) * window',
})

/** The window is the time at which it began. */
export const FIRST_REQUEST_WINDOW = countedWindow({
  once: '',
  latest: 'now',
  next: 'now',
  isCurrent: 'state[1] + window > now',
  holdsTaken: 'state[1] <= taken_at and taken_at < state[1] + window',
  expiry: 'state[1] + window',
})

const GIVE_BACK_COUNT = `
    state[1], changed = state[1] - cost, true
    is_fresh = state[1] <= 0`

/** State: the count. */
export const CONSECUTIVE: LuaPolicy = {
  once: `
    local limit = p[3]`,
  clamp: '',
  take: `
    allowed = state[1] + cost <= limit
    if allowed then state[1], changed = state[1] + cost, true end`,
  refund: GIVE_BACK_COUNT,
  left: `
    left = max(0, limit - state[1])`,
  reward: GIVE_BACK_COUNT,
  expiry: `
    expires_at = state[1] > 0 and huge or 0`,
}
