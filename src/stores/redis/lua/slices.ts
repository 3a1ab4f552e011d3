import { TTL_SLICES } from '../../../policies/spec.js'
import { type LuaKind, tableState } from './lua-kind.js'

/*
 * A state is a table: state[2] is the index of the newest slice, and state[3] to state[slices + 3] are the
 * counts of the slices, the newest first.
 */

/** Makes the current slice the newest one. `shift` is how many slices have begun since the state was written. */
const SHIFT_TO_NOW = `
    if shift > 0 then
      state[2] = now_index
      for i = slices, 0, -1 do state[i + 3] = i >= shift and state[i - shift + 3] or 0 end
    end`

const CLAMP = `
    if state[2] > now_index + slices then state[2], changed = now_index + slices, true end`

/** Sets `tick`, the time since the newest slice began, and `used`, the units in the window. */
const findUsed = (newest = 'state[2]') => `
    local ahead = ${newest} - now_index
    local shift = max(0, -ahead)
    local tick = ahead > 0 and 0 or ticks - now_index * window
    local used = shift > slices and 0 or floor(state[slices - shift + 3] * (window - tick) / window)
    for i = shift, slices - 1 do used = used + state[i - shift + 3] end`

/** Time is counted in ticks of 1/slices ms: a slice is exactly `window` ticks. */
export const SLIDING_WINDOW: LuaKind = {
  params: { limit: 'limit', windowMs: 'window', slices: 'slices', debt: 'debt' },
  once: `
    local room, count = limit, slices + 2
    local ticks = floor(now) * slices
    local now_index = floor(ticks / window)`,
  state: tableState('count'),
  clamp: CLAMP,
  take: `${findUsed()}
    allowed = used + cost <= room
    if allowed then
      ${SHIFT_TO_NOW}
      state[3] = state[3] + cost
    end`,
  owe: 'room = limit + debt',
  left: `${findUsed()}
    left = max(0, limit + debt - used)`,
  refund: `
    local at = state[2] - floor(floor(taken_at) * slices / window) + 3
    if at >= 3 and at <= slices + 3 and state[at] > 0 then
      state[at], changed = max(0, state[at] - cost), true
      ${findUsed('min(state[2], now_index + slices)')}
      is_fresh = used == 0
    end`,
  // The newest units come first. The oldest slice, of which a part counts, keeps what leaves enough of it.
  reward: `${findUsed()}
    ${SHIFT_TO_NOW}
    local owed, oldest = cost, state[slices + 3]
    for i = 3, slices + 2 do
      local given = min(owed, state[i])
      state[i], owed = state[i] - given, owed - given
    end
    if owed > 0 then
      local kept = floor(oldest * (window - tick) / window) - owed
      state[slices + 3] = kept > 0 and min(oldest, ceil((kept + 1) * window / (window - tick)) - 1) or 0
    end
    changed, is_fresh = true, used <= cost`,
  // The newest slice leaves the window a window after its end.
  expiry: `
    expires_at = (state[2] + slices + 1) * window / slices`,
}

/**
 * Takes held units out of their slice. It is the one that `reset_at` names, since a step back may have put
 * them ahead of `taken_at`.
 */
const TAKE_OUT = `
    local held_in = floor(floor(taken_at) * slices / ttl)
    if reset_at < huge then held_in = floor(floor(reset_at + 0.5) * slices / ttl) - slices - 1 end
    local at = state[2] - held_in + 3
    local is_counted = at >= 3 and at <= slices + 3 and state[at] > 0
    if is_counted then state[at] = max(0, state[at] - cost) end`

export const CONCURRENCY: LuaKind = {
  params: { limit: 'limit', ttlMs: 'ttl' },
  once: `
    local slices = ${TTL_SLICES}
    local count = slices + 2
    local now_index = floor(floor(now) * slices / ttl)`,
  state: tableState('count'),
  clamp: CLAMP,
  take: `
    local shift = max(0, now_index - state[2])
    local used = 0
    for i = shift, slices do used = used + state[i - shift + 3] end
    allowed = used + cost <= limit
    if allowed then
      ${SHIFT_TO_NOW}
      state[3] = state[3] + cost
    end`,
  refund: `${TAKE_OUT}
    changed, is_fresh = is_counted, true
    for i = max(0, now_index - state[2]), slices do
      is_fresh = is_fresh and state[i - max(0, now_index - state[2]) + 3] == 0
    end`,
  renew: `
    local shift = max(0, now_index - state[2])
    ${SHIFT_TO_NOW}
    ${TAKE_OUT}
    state[3], changed = state[3] + cost, true`,
  expiry: `
    expires_at = (state[2] + slices + 1) * ttl / slices`,
}
