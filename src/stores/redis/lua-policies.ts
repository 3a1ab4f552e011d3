import type { Policy } from '../../policies/policy.js'

/** A policy's rules in Lua, as src/policies has them. Pieces of code, to stand in a function or in a loop. */
export interface LuaPolicy {
  /** From p, state, now, cost: sets allowed, whether the cost is, and changed, whether the state did. */
  readonly take: string
  /** From p, state, now, cost, taken_at, reset_at (may be nil): sets changed, and is_fresh where the state now is. */
  readonly refund: string
  /**
   * From p, state: sets expires_at, by when the state equals a fresh one. That moment is rounded up, to a sixteenth of a
   * bucket's span or to the end of a slice, so that most writes can leave the expiry as it is, which saves Redis much work.
   */
  readonly expiry: string
}

/*
 * p is a policy: its kind, how many numbers its state has, then its params. A state is a table of numbers, all 0 for a fresh
 * one, and changes in place. Times are milliseconds since the Unix epoch.
 */
export const LUA_MATH = `
local floor, ceil, max, min, huge = math.floor, math.ceil, math.max, math.min, math.huge`

const TOKEN_BUCKET: LuaPolicy = {
  take: `
    local most = 2 * p[3] * p[4] -- more than that comes from a clock that was ahead
    local at = floor(now * 4096) / 4096
    local owed = max(0, state[1] - at)
    local after = min(owed, most) + cost * p[4]
    allowed = cost == 0 or after <= (p[3] + (p[5] or 0)) * p[4] -- p[5] is how far it may be overdrawn
    changed = allowed and cost > 0 or not allowed and owed > most
    if changed then state[1] = at + (allowed and after or most) end`,
  refund: `
    local give = min(cost * p[4], (reset_at or taken_at + cost * p[4]) - now)
    give = floor(give * 4096) / 4096
    changed = give > 0
    if changed then state[1] = min(state[1], floor(now * 4096) / 4096 + 2 * p[3] * p[4]) - give end
    is_fresh = state[1] <= now`,
  expiry: `
    local grid = p[3] * p[4] / 16
    expires_at = ceil(state[1] / grid) * grid`,
}

const FIXED_WINDOW: LuaPolicy = {
  take: `
    local now_index = floor(now / p[4])
    local index = state[1]
    local count = index >= now_index and state[2] or 0
    local is_far_ahead = index > now_index + 1
    allowed = cost == 0 or count + cost <= p[3]
    changed = allowed and cost > 0 or not allowed and is_far_ahead
    if changed then
      state[1] = is_far_ahead and now_index + 1 or max(index, now_index)
      state[2] = allowed and count + cost or count
    end`,
  refund: `
    changed = state[1] == floor(taken_at / p[4])
    if changed then state[2] = state[2] - cost end
    is_fresh = state[2] <= 0`,
  expiry: `
    expires_at = (state[1] + 1) * p[4]`,
}

const CONSECUTIVE: LuaPolicy = {
  take: `
    allowed = cost == 0 or state[1] + cost <= p[3]
    changed = allowed and cost > 0
    if changed then state[1] = state[1] + cost end`,
  refund: `
    changed = true
    state[1] = state[1] - cost
    is_fresh = state[1] <= 0`,
  expiry: `
    expires_at = state[1] > 0 and huge or 0`,
}

const SLIDING_WINDOW: LuaPolicy = {
  take: `
    local window, slices = p[4], p[5]
    local ticks = floor(now) * slices
    local now_index = floor(ticks / window)
    local ahead = state[1] - now_index
    local shift = max(0, -ahead) -- so many slices have begun since the state was written
    local tick = ahead > 0 and 0 or ticks - now_index * window
    local used = shift > slices and 0 or floor(state[slices - shift + 2] * (window - tick) / window)
    for i = shift, slices - 1 do used = used + state[i - shift + 2] end
    allowed = cost == 0 or used + cost <= p[3]
    changed = allowed and cost > 0 or not allowed and ahead > slices
    if changed then
      state[1] = now_index + min(max(0, ahead), slices)
      if shift > 0 then
        for i = slices, 0, -1 do state[i + 2] = i >= shift and state[i - shift + 2] or 0 end
      end
      if allowed then state[2] = state[2] + cost end
    end`,
  refund: `
    local at = state[1] - floor(floor(taken_at) * p[5] / p[4]) + 2
    changed = at >= 2 and at <= p[5] + 2 and state[at] > 0
    if changed then state[at] = max(0, state[at] - cost) end
    is_fresh = true
    for i = 2, p[5] + 2 do is_fresh = is_fresh and state[i] == 0 end`,
  expiry: `
    expires_at = (state[1] + p[5] + 1) * p[4] / p[5] -- the newest slice leaves the window a window after its end`,
}

/**
 * A ban from a policy. Its numbers stand behind those of the policy, in p from p[6] and in the state from state[p[2] - 3], so that the policy's
 * own code runs as it is.
 */
function banFrom(inner: LuaPolicy): LuaPolicy {
  return {
    take: `
    local at, longest = p[2] - 4, p[#p] -- denials, until when they count, the last ban's number, until when it lasts
    if p[6] > 0 and cost > 0 and state[at + 4] > now then
      do
        local cost = huge -- so much is never allowed: what a clock left behind is put right
        ${inner.take}
      end
      if p[8] > 0 or state[at + 4] - now > longest then
        state[at + 4] = now + (p[8] > 0 and p[8 + state[at + 3]] or longest)
        changed = true
      end
    else
      do ${inner.take}
      end
      if not allowed and p[6] > 0 then
        local counts = state[at + 2] > now
        local strikes = counts and state[at + 1] + 1 or 1
        changed = true
        if strikes < p[6] then
          state[at + 1] = strikes
          state[at + 2] = counts and min(state[at + 2], now + p[7]) or now + p[7]
        else
          local level = state[at + 4] + longest > now and min(state[at + 3] + 1, #p - 8) or 1
          state[at + 1], state[at + 2], state[at + 3], state[at + 4] = 0, 0, level, now + p[8 + level]
        end
      end
    end`,
    refund: `
    do ${inner.refund}
    end
    local at = p[2] - 4
    local is_held = state[at + 2] > now or state[at + 3] > 0 and state[at + 4] + p[#p] > now
    if is_fresh and is_held then
      for i = 1, at do state[i] = 0 end
      is_fresh = false
    end`,
    expiry: `
    do ${inner.expiry}
    end
    local at = p[2] - 4
    expires_at = max(expires_at, state[at + 2], state[at + 3] > 0 and state[at + 4] + p[#p] or 0)`,
  }
}

export const LUA_POLICIES: Readonly<Record<Policy['kind'], LuaPolicy>> = {
  'token-bucket': TOKEN_BUCKET,
  'fixed-window': FIXED_WINDOW,
  'sliding-window': SLIDING_WINDOW,
  consecutive: CONSECUTIVE,
  'ban-token-bucket': banFrom(TOKEN_BUCKET),
  'ban-fixed-window': banFrom(FIXED_WINDOW),
  'ban-sliding-window': banFrom(SLIDING_WINDOW),
  'ban-consecutive': banFrom(CONSECUTIVE),
}
