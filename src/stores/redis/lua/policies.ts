import type { FlatSpec } from '../../../policies/spec.js'
import { GRID_PER_MS } from '../../../policies/token-bucket.js'

/**
 * A policy of src/policies in Lua: pieces of code for a function or a loop.
 *
 * `p` is the policy: its kind, how many numbers its state has, then its params. `state` is numbers, all 0
 * when fresh, and changes in place. Times are milliseconds since the Unix epoch. Code that runs for every
 * key avoids function calls, which cost more than the rest: x - x % 1 is floor(x), x + -x % 1 is ceil(x).
 */
export interface LuaPolicy {
  /** Sets the locals that the other pieces read, from `p` and `now`. Runs once for many states. */
  readonly once: string
  /** `clampToNow`: changes the state, and sets `changed`, where a clock that was ahead wrote it. */
  readonly clamp: string
  /** `take` of a clamped state and a `cost` above 0. Sets `allowed`, and `changed` with the state. */
  readonly take: string
  /** `refund` from `cost`, `taken_at` and `reset_at`, which may be nil. Sets `changed` and `is_fresh`. */
  readonly refund: string
  /** Sets `left`: how many whole units `take` would allow of a clamped state. Not of `concurrency`. */
  readonly left?: string
  /** `reward` of a clamped state by `cost` units. Sets `changed` and `is_fresh`. Not of `concurrency`. */
  readonly reward?: string
  /** Bans a clamped state for `ban` ms; only of a ban. */
  readonly block?: string
  /** `renew` of a clamped state from `cost`, `taken_at` and `reset_at`; only of a policy that has it. */
  readonly renew?: string
  /**
   * Sets `expires_at`, a time at which the state is fresh: rounded up to a sixteenth of a bucket's span or
   * to the end of a slice, so that most writes need not change the key's expiry.
   */
  readonly expiry: string
}

const BUCKET_REFUND = `
    local give = min(cost * interval, (reset_at or taken_at + cost * interval) - now)
    give = floor(give * ${GRID_PER_MS}) / ${GRID_PER_MS}
    changed = give > 0
    if changed then state[1] = min(state[1], at + span) - give end
    is_fresh = state[1] <= now`

/** State: when the bucket is full again. */
const TOKEN_BUCKET: LuaPolicy = {
  once: `
    local capacity, interval = p[3], p[4]
    local at = floor(now * ${GRID_PER_MS}) / ${GRID_PER_MS}
    local span = capacity * interval -- from empty to full
    local grid = span / 16`,
  clamp: `
    if state[1] > at + span then state[1], changed = at + span, true end`,
  take: `
    local full_at = state[1]
    local debt = full_at > at and full_at - at or 0
    local after = (debt > span and span or debt) + cost * interval
    allowed = after <= span
    if allowed then state[1], changed = at + after, true end`,
  refund: BUCKET_REFUND,
  left: `
    left = floor((span - min(span, max(0, state[1] - at))) / interval)`,
  reward: `
    local taken_at, reset_at = now, nil
    ${BUCKET_REFUND}`,
  expiry: `
    local spans = state[1] / grid
    expires_at = (spans + -spans % 1) * grid`,
}

/** State: the window's index, the count. */
const FIXED_WINDOW: LuaPolicy = {
  once: `
    local limit, window = p[3], p[4]
    local now_index = floor(now / window)`,
  clamp: `
    if state[1] > now_index + 1 then state[1], changed = now_index + 1, true end`,
  take: `
    local index = state[1]
    local used = index >= now_index and state[2] or 0
    allowed = used + cost <= limit
    if allowed then
      state[1] = index > now_index and index or now_index
      state[2], changed = used + cost, true
    end`,
  refund: `
    changed = state[1] == floor(taken_at / window)
    if changed then state[2] = state[2] - cost end
    is_fresh = state[2] <= 0`,
  left: `
    left = max(0, limit - (state[1] >= now_index and state[2] or 0))`,
  reward: `
    state[2], changed = (state[1] >= now_index and state[2] or 0) - cost, true
    is_fresh = state[2] <= 0`,
  expiry: `
    expires_at = (state[1] + 1) * window`,
}

/** State: when the window began, the count. */
const FIRST_REQUEST_WINDOW: LuaPolicy = {
  once: `
    local limit, window = p[3], p[4]`,
  clamp: `
    if state[1] > now then state[1], changed = now, true end`,
  take: `
    local used = state[1] + window > now and state[2] or 0
    allowed = used + cost <= limit
    if allowed then
      if used == 0 then state[1] = now end
      state[2], changed = used + cost, true
    end`,
  refund: `
    changed = state[1] <= taken_at and taken_at < state[1] + window
    if changed then state[2] = state[2] - cost end
    is_fresh = state[2] <= 0`,
  left: `
    left = max(0, limit - (state[1] + window > now and state[2] or 0))`,
  reward: `
    state[2], changed = (state[1] + window > now and state[2] or 0) - cost, true
    is_fresh = state[2] <= 0`,
  expiry: `
    expires_at = state[1] + window`,
}

const GIVE_BACK_COUNT = `
    state[1], changed = state[1] - cost, true
    is_fresh = state[1] <= 0`

/** State: the count. */
const CONSECUTIVE: LuaPolicy = {
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

/** Makes the current slice the newest one, from `shift`, how many slices have begun since. */
const SHIFT_TO_NOW = `
    if shift > 0 then
      state[1] = now_index
      for i = slices, 0, -1 do state[i + 2] = i >= shift and state[i - shift + 2] or 0 end
    end`

/** Also sets `inside`, how much of the oldest slice is in the window, in ticks. */
const SLIDE_TO_NOW = `
    local shift = max(0, now_index - state[1])
    ${SHIFT_TO_NOW}
    local inside = window - (state[1] > now_index and 0 or ticks - now_index * window)`

/** State: the newest slice's index, the counts of the slices, newest first. */
const SLIDING_WINDOW: LuaPolicy = {
  once: `
    local limit, window, slices = p[3], p[4], p[5]
    local ticks = floor(now) * slices
    local now_index = floor(ticks / window)`,
  clamp: `
    if state[1] > now_index + slices then state[1], changed = now_index + slices, true end`,
  take: `
    local ahead = state[1] - now_index
    local shift = max(0, -ahead) -- how many slices have begun since the state was written
    local tick = ahead > 0 and 0 or ticks - now_index * window
    local used = shift > slices and 0 or floor(state[slices - shift + 2] * (window - tick) / window)
    for i = shift, slices - 1 do used = used + state[i - shift + 2] end
    allowed = used + cost <= limit
    if allowed then
      ${SHIFT_TO_NOW}
      state[2], changed = state[2] + cost, true
    end`,
  refund: `
    local at = state[1] - floor(floor(taken_at) * slices / window) + 2
    changed = at >= 2 and at <= slices + 2 and state[at] > 0
    if changed then state[at] = max(0, state[at] - cost) end
    is_fresh = true
    for i = 2, slices + 2 do is_fresh = is_fresh and state[i] == 0 end`,
  left: `
    ${SLIDE_TO_NOW}
    left = limit - floor(state[slices + 2] * inside / window)
    for i = 2, slices + 1 do left = left - state[i] end
    left = max(0, left)`,
  reward: `
    -- The newest units come first. The oldest slice, of which a part counts, keeps what leaves enough of it.
    ${SLIDE_TO_NOW}
    local owed, oldest = cost, state[slices + 2]
    for i = 2, slices + 1 do
      local given = min(owed, state[i])
      state[i], owed = state[i] - given, owed - given
    end
    if owed > 0 then
      local kept = floor(oldest * inside / window) - owed
      state[slices + 2] = kept > 0 and min(oldest, ceil((kept + 1) * window / inside) - 1) or 0
    end
    changed = true
    is_fresh = floor(state[slices + 2] * inside / window) == 0
    for i = 2, slices + 1 do is_fresh = is_fresh and state[i] == 0 end`,
  expiry: `
    -- The newest slice leaves the window a window after its end.
    expires_at = (state[1] + slices + 1) * window / slices`,
}

/**
 * State: the newest slice's index, then how many units were last renewed in each slice, newest first. Units
 * are held in the slice that `reset_at` names, since a step back may have put them ahead of `taken_at`.
 */
const PLACE_OF_UNITS = `
    local held_in = floor(floor(taken_at) * slices / ttl)
    if reset_at then held_in = floor(floor(reset_at + 0.5) * slices / ttl) - slices - 1 end
    local at = state[1] - held_in + 2
    local is_counted = at >= 2 and at <= slices + 2 and state[at] > 0
    if is_counted then state[at] = max(0, state[at] - cost) end`
const CONCURRENCY: LuaPolicy = {
  once: `
    local limit, ttl, slices = p[3], p[4], p[5]
    local now_index = floor(floor(now) * slices / ttl)`,
  clamp: SLIDING_WINDOW.clamp,
  take: `
    local shift = max(0, now_index - state[1]) -- how many slices have begun since the state was written
    local used = 0
    for i = shift, slices do used = used + state[i - shift + 2] end
    allowed = used + cost <= limit
    if allowed then
      ${SHIFT_TO_NOW}
      state[2], changed = state[2] + cost, true
    end`,
  refund: `
    ${PLACE_OF_UNITS}
    changed = is_counted
    is_fresh = true
    for i = 2, slices + 2 do is_fresh = is_fresh and state[i] == 0 end`,
  renew: `
    local shift = max(0, now_index - state[1])
    ${SHIFT_TO_NOW}
    ${PLACE_OF_UNITS}
    state[2] = state[2] + cost`,
  expiry: `
    expires_at = (state[1] + slices + 1) * ttl / slices`,
}

/**
 * Returns the ban of a policy. Its params follow those of the policy, from p[6] on (after, within, whether
 * attempts restart a ban, the bans), and its record follows the policy's state (strikes, when they cease to
 * count, level, end of the ban), so that the policy's own pieces run unchanged.
 */
function banFrom({ once, clamp, take, refund, left, reward, expiry }: LuaPolicy): LuaPolicy {
  const keepRecord = `
    local has_record = state[strikes_end] > now or state[level] > 0 and state[ban_end] + longest > now
    if is_fresh and has_record then
      for i = 1, strikes - 1 do state[i] = 0 end
      is_fresh = false
    end`
  return {
    once: `${once}
    local strikes, strikes_end, level, ban_end = p[2] - 3, p[2] - 2, p[2] - 1, p[2] -- places in the state
    local limit_of_strikes, within, restarts, longest = p[6], p[7], p[8] > 0, p[#p]`,
    clamp: `${clamp}
    if state[strikes_end] > now + within then state[strikes_end], changed = now + within, true end
    if state[ban_end] > now + longest then state[ban_end], changed = now + longest, true end`,
    take: `
    if state[ban_end] > now then
      allowed = false
      if restarts then state[ban_end], changed = max(state[ban_end], now + p[8 + state[level]]), true end
    else
      ${take}
      if not allowed then
        changed = true
        local goes_on = state[strikes_end] > now
        local count = goes_on and state[strikes] + 1 or 1
        if count < limit_of_strikes then
          state[strikes] = count
          if not goes_on then state[strikes_end] = now + within end
        else
          local next_level = state[ban_end] + longest > now and min(state[level] + 1, #p - 8) or 1
          state[strikes], state[strikes_end], state[level] = 0, 0, next_level
          state[ban_end] = now + p[8 + next_level]
        end
      end
    end`,
    refund: `${refund}${keepRecord}`,
    left: `
    if state[ban_end] > now then left = 0 else ${left} end`,
    reward: `${reward}${keepRecord}`,
    block: `
    local escalates = state[ban_end] + longest > now
    state[strikes], state[strikes_end], state[level] = 0, 0, escalates and max(1, state[level]) or 1
    state[ban_end] = max(state[ban_end], now + ban)`,
    expiry: `${expiry}
    expires_at = max(expires_at, state[strikes_end], state[level] > 0 and state[ban_end] + longest or 0)`,
  }
}

export const LUA_POLICIES: Readonly<Record<FlatSpec['kind'], LuaPolicy>> = {
  'token-bucket': TOKEN_BUCKET,
  'fixed-window': FIXED_WINDOW,
  'first-request-window': FIRST_REQUEST_WINDOW,
  'sliding-window': SLIDING_WINDOW,
  consecutive: CONSECUTIVE,
  concurrency: CONCURRENCY,
  'ban-token-bucket': banFrom(TOKEN_BUCKET),
  'ban-fixed-window': banFrom(FIXED_WINDOW),
  'ban-first-request-window': banFrom(FIRST_REQUEST_WINDOW),
  'ban-sliding-window': banFrom(SLIDING_WINDOW),
  'ban-consecutive': banFrom(CONSECUTIVE),
}
