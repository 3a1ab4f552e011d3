import { carryBack, carryOver, type LuaPolicy } from './lua-policy.js'

/**
 * Makes the current slice the newest one. `shift` is how many slices have begun since the state was written.
 * `first` is the place of the newest slice's count. The newest slice's index is in the place before it.
 */
function shiftToNow(first: number): string {
  return `
    if shift > 0 then
      state[${first - 1}] = now_index
      for i = slices, 0, -1 do state[i + ${first}] = i >= shift and state[i - shift + ${first}] or 0 end
    end`
}

/** Sets `is_fresh`: whether no slice has a count. */
function findCounts(first: number): string {
  return `
    is_fresh = true
    for i = ${first}, slices + ${first} do is_fresh = is_fresh and state[i] == 0 end`
}

/** Also sets `inside`, how much of the oldest slice is in the window, in ticks. */
const SLIDE_TO_NOW = `
    local shift = max(0, now_index - state[4])
    ${shiftToNow(5)}
    state[1], state[2], state[3] = limit, window, slices
    local inside = window - (state[4] > now_index and 0 or ticks - now_index * window)`

/** Moves counts under other slices into this policy's slices. */
const ADOPT = `
      local counts, sum, carried = {}, 0, 0
      for i = 0, slices do counts[i] = 0 end
      local stored_now = floor(floor(now) * state[3] / state[2])
      local stored_inside = state[2] - (floor(now) * state[3] - stored_now * state[2])
      for i = 0, state[3] do
        local stored_age = stored_now - state[4] + i
        if stored_age > state[3] then break end
        local ends_at = ceil((state[4] - i + 1) * state[2] / state[3])
        local age = max(0, now_index - floor((ends_at - 1) * slices / window))
        local inside = stored_age < state[3] and state[2] or stored_inside
        sum = sum + floor(state[5 + i] * inside / state[2])
        local total = ${carryOver('sum', 'state[1]')}
        if age <= slices then counts[age] = counts[age] + total - carried end
        carried = total
      end
      state[1], state[2], state[3], state[4], changed = limit, window, slices, now_index, true
      for i = 0, slices do state[5 + i] = counts[i] end`

/**
 * State: the limit, the window, the slices, the newest slice's index, the counts of the slices, newest
 * first.
 */
export const SLIDING_WINDOW: LuaPolicy = {
  once: `
    local limit, window, slices, debt, scales = p[3], p[4], p[5], p[6], p[7] == 1
    local ticks = floor(now) * slices
    local now_index = floor(ticks / window)`,
  blank: `
      state[1], state[2], state[3] = limit, window, slices
      for i = 4, slices + 5 do state[i] = 0 end`,
  clamp: `
    if state[2] > 0 and (state[2] ~= window or state[3] ~= slices or scales and state[1] ~= limit) then
      ${ADOPT}
    elseif state[4] > now_index + slices then
      state[1], state[4], changed = limit, now_index + slices, true
    end`,
  take: `
    local ahead = state[4] - now_index
    local shift = max(0, -ahead) -- how many slices have begun since the state was written
    local tick = ahead > 0 and 0 or ticks - now_index * window
    local used = shift > slices and 0 or floor(state[slices - shift + 5] * (window - tick) / window)
    for i = shift, slices - 1 do used = used + state[i - shift + 5] end
    allowed = used + cost <= (may_owe and limit + debt or limit)
    if allowed then
      ${shiftToNow(5)}
      state[1], state[2], state[3] = limit, window, slices
      state[5], changed = state[5] + cost, true
    end`,
  refund: `
    local at = state[4] - floor(floor(taken_at) * state[3] / state[2]) + 5
    local units = ${carryBack('state[1]')}
    local is_own = state[2] == window and state[3] == slices
    changed = units > 0 and at >= 5 and at <= state[3] + 5 and state[at] > 0
      and (is_own or now < (reset_at or huge))
    if changed then state[at] = max(0, state[at] - units) end
    is_fresh = true
    for i = 5, state[3] + 5 do is_fresh = is_fresh and state[i] == 0 end`,
  left: `
    ${SLIDE_TO_NOW}
    left = limit + debt - floor(state[slices + 5] * inside / window)
    for i = 5, slices + 4 do left = left - state[i] end
    left = max(0, left)`,
  reward: `
    -- The newest units come first. The oldest slice, of which a part counts, keeps what leaves enough of it.
    ${SLIDE_TO_NOW}
    local owed, oldest = cost, state[slices + 5]
    for i = 5, slices + 4 do
      local given = min(owed, state[i])
      state[i], owed = state[i] - given, owed - given
    end
    if owed > 0 then
      local kept = floor(oldest * inside / window) - owed
      state[slices + 5] = kept > 0 and min(oldest, ceil((kept + 1) * window / inside) - 1) or 0
    end
    changed = true
    is_fresh = floor(state[slices + 5] * inside / window) == 0
    for i = 5, slices + 4 do is_fresh = is_fresh and state[i] == 0 end`,
  expiry: `
    -- The newest slice leaves the window a window after its end.
    expires_at = (state[4] + state[3] + 1) * state[2] / state[3]`,
  length: 'state[3] + 5',
}

/**
 * State: the ttl, the newest slice's index, then how many units were last renewed in each slice, newest
 * first. Units are held in the slice that `reset_at` names, since a step back may have put them ahead of
 * `taken_at`.
 */
const PLACE_OF_UNITS = `
    local held_in = floor(floor(taken_at) * slices / ttl)
    if reset_at then held_in = floor(floor(reset_at + 0.5) * slices / ttl) - slices - 1 end
    local at = state[2] - held_in + 3
    local is_counted = at >= 3 and at <= slices + 3 and state[at] > 0
    if is_counted then state[at] = max(0, state[at] - cost) end`

export const CONCURRENCY: LuaPolicy = {
  least: 3,
  once: `
    local limit, ttl, slices = p[3], p[4], p[5]
    local now_index = floor(floor(now) * slices / ttl)`,
  clamp: `
    if state[2] > now_index + slices then state[2], changed = now_index + slices, true end`,
  take: `
    local shift = max(0, now_index - state[2]) -- how many slices have begun since the state was written
    local used = 0
    for i = shift, slices do used = used + state[i - shift + 3] end
    allowed = used + cost <= limit
    if allowed then
      ${shiftToNow(3)}
      state[1], state[3], changed = ttl, state[3] + cost, true
    end`,
  refund: `
    ${PLACE_OF_UNITS}
    changed = is_counted
    ${findCounts(3)}`,
  renew: `
    local shift = max(0, now_index - state[2])
    ${shiftToNow(3)}
    ${PLACE_OF_UNITS}
    state[1], state[3] = ttl, state[3] + cost`,
  expiry: `
    expires_at = (state[2] + slices + 1) * state[1] / slices`,
}
