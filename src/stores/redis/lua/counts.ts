import { carryBack, carryOver, type LuaPolicy } from './lua-policy.js'

/** How the kinds of counted windows differ. */
interface LuaWindow {
  readonly once: string
  /** The latest start that a window can have now. */
  readonly latest: string
  /** The start of the window, if the first charge in it comes now. */
  readonly next: string
  /** The length of the window that starts at `latest`. */
  readonly latestLength: string
  /** Whether the state's window is not one of this policy's windows. */
  readonly differs: string
  /** The start of the window that takes over the count of such a window. */
  readonly adopted: string
  /** The window's length in the state of a key that has used nothing. */
  readonly blankLength: string
}

/**
 * Returns the policy of counted windows. State: the limit, the length, the start, the count. `once` sets
 * `limit`, `debt`, `scales`, and `window`, the length of the current window.
 */
function countedWindow({
  once,
  latest,
  next,
  latestLength,
  differs,
  adopted,
  blankLength,
}: LuaWindow): LuaPolicy {
  return {
    least: 4,
    once,
    blank: `
      state[1], state[2], state[3], state[4] = limit, ${blankLength}, 0, 0`,
    clamp: `
    if state[3] > ${latest} then
      state[4], changed = ${carryOver('state[4]', 'state[1]')}, true
      state[1], state[2], state[3] = limit, ${latestLength}, ${latest}
    elseif state[4] > 0 and now < state[3] + state[2] then
      if ${differs} or scales and state[1] ~= limit then
        state[4], changed = ${carryOver('state[4]', 'state[1]')}, true
        if ${differs} then state[2], state[3] = window, ${adopted} end
        state[1] = limit
      end
    end`,
    take: `
    local is_current = state[4] > 0 and now < state[3] + state[2]
    local used = is_current and state[4] or 0
    allowed = used + cost <= (may_owe and limit + debt or limit)
    if allowed then
      if not is_current then state[2], state[3] = window, ${next} end
      state[1], state[4], changed = limit, used + cost, true
    end`,
    refund: `
    local units = ${carryBack('state[1]')}
    changed = units > 0 and state[3] <= taken_at and taken_at < state[3] + state[2] and now < (reset_at or huge)
    if changed then state[4] = state[4] - units end
    is_fresh = state[4] <= 0`,
    left: `
    left = max(0, limit + debt - (now < state[3] + state[2] and state[4] or 0))`,
    reward: `
    state[4], changed = (now < state[3] + state[2] and state[4] or 0) - cost, true
    is_fresh = state[4] <= 0`,
    expiry: `
    expires_at = state[3] + state[2]`,
  }
}

const OF_ONE_LENGTH = { latestLength: 'window', differs: 'state[2] ~= window', blankLength: 'window' }
const WINDOW_PARAMS = `
    local limit, window, debt, scales = p[3], p[4], p[5], p[6] == 1`

export const FIXED_WINDOW = countedWindow({
  ...OF_ONE_LENGTH,
  once: `${WINDOW_PARAMS}
    local start = floor(now / window) * window`,
  latest: 'start + window',
  next: 'start',
  adopted: 'start',
})

export const FIRST_REQUEST_WINDOW = countedWindow({
  ...OF_ONE_LENGTH,
  once: WINDOW_PARAMS,
  latest: 'now',
  next: 'now',
  adopted: '(now < state[3] + window and state[3] or now)',
})

/**
 * How many params a quota has: its limit, debt and `onChange`, and five starts of periods, p[6] to p[10].
 */
export const QUOTA_PARAMS = 8

/**
 * A quota. Scripts have no calendar, so the client sends the periods. `now` lies before the last two starts.
 */
export const QUOTA: LuaPolicy = {
  ...countedWindow({
    once: `
    local limit, debt, scales = p[3], p[4], p[5] == 1
    local at = now < p[7] and 6 or now < p[8] and 7 or 8
    local start, window, latest = p[at], p[at + 1] - p[at], p[at + 1]
    local latest_window = p[at + 2] - latest`,
    latest: 'latest',
    next: 'start',
    latestLength: 'latest_window',
    differs:
      '(state[3] ~= start or state[2] ~= window) and (state[3] ~= latest or state[2] ~= latest_window)',
    adopted: 'start',
    blankLength: '0',
  }),
  outdated: 'now < p[6] or now >= p[9]',
}

/** State: the limit, the count. */
export const CONSECUTIVE: LuaPolicy = {
  least: 2,
  once: `
    local limit, scales = p[3], p[4] == 1`,
  blank: `
      state[1], state[2] = limit, 0`,
  clamp: `
    if scales and state[2] > 0 and state[1] ~= limit then
      state[2], changed = ${carryOver('state[2]', 'state[1]')}, true
      state[1] = limit
    end`,
  take: `
    allowed = state[2] + cost <= limit
    if allowed then state[1], state[2], changed = limit, state[2] + cost, true end`,
  refund: `
    local units = ${carryBack('state[1]')}
    changed = units > 0
    state[2] = state[2] - units
    is_fresh = state[2] <= 0`,
  left: `
    left = max(0, limit - state[2])`,
  reward: `
    state[1], state[2], changed = limit, state[2] - cost, true
    is_fresh = state[2] <= 0`,
  expiry: `
    expires_at = state[2] > 0 and huge or 0`,
}
