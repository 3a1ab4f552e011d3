import type { LuaPolicy } from './lua-policy.js'

/** Makes the current slice the newest one, from `shift`, how many slices have begun since. */
const SHIFT_TO_NOW = `
    if shift > 0 then
      state[1] = now_index
      for i = slices, 0, -1 do state[i + 2] = i >= shift and state[i - shift + 2] or 0 end
    end`

/** Counts the cost in the current slice, if it fits beside what is `used`. */
const TAKE_FROM_NOW = `
    allowed = used + cost <= limit
    if allowed then
      ${SHIFT_TO_NOW}
      state[2], changed = state[2] + cost, true
    end`

/** Sets `is_fresh`: whether no slice has a count. */
const FIND_COUNTS = `
    is_fresh = true
    for i = 2, slices + 2 do is_fresh = is_fresh and state[i] == 0 end`

/** Also sets `inside`, how much of the oldest slice is in the window, in ticks. */
const SLIDE_TO_NOW = `
    local shift = max(0, now_index - state[1])
    ${SHIFT_TO_NOW}
    local inside = window - (state[1] > now_index and 0 or ticks - now_index * window)`

/** State: the newest slice's index, the counts of the slices, newest first. */
export const SLIDING_WINDOW: LuaPolicy = {
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
    ${TAKE_FROM_NOW}`,
  refund: `
    local at = state[1] - floor(floor(taken_at) * slices / window) + 2
    changed = at >= 2 and at <= slices + 2 and state[at] > 0
    if changed then state[at] = max(0, state[at] - cost) end
    ${FIND_COUNTS}`,
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
export const CONCURRENCY: LuaPolicy = {
  once: `
    local limit, ttl, slices = p[3], p[4], p[5]
    local now_index = floor(floor(now) * slices / ttl)`,
  clamp: SLIDING_WINDOW.clamp,
  take: `
    local shift = max(0, now_index - state[1]) -- how many slices have begun since the state was written
    local used = 0
    for i = shift, slices do used = used + state[i - shift + 2] end
    ${TAKE_FROM_NOW}`,
  refund: `
    ${PLACE_OF_UNITS}
    changed = is_counted
    ${FIND_COUNTS}`,
  renew: `
    local shift = max(0, now_index - state[1])
    ${SHIFT_TO_NOW}
    ${PLACE_OF_UNITS}
    state[2] = state[2] + cost`,
  expiry: `
    expires_at = (state[1] + slices + 1) * ttl / slices`,
}
