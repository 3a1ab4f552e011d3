import type { Policy } from '../../../policies/policy.js'

/** A policy's rules in Lua, as src/policies has them. Pieces of code, to stand in a function or in a loop. */
export interface LuaPolicy {
  /** What the pieces call the policy's params, in their order. None for a policy whose pieces read p. */
  readonly params: readonly string[]
  /** What they call the numbers of a state. None for a policy whose pieces read and change the table state. */
  readonly numbers: readonly string[]
  /** From the params, now: what the other pieces share, to be worked out once for many states. */
  readonly once: string
  /** From a state, cost: sets allowed, whether the cost is, and changed, whether the state did. */
  readonly take: string
  /** From a state, now, cost, taken_at, reset_at (may be nil): sets changed, and is_fresh where the state now is. */
  readonly refund: string
  /**
   * From a state: sets expires_at, by when it equals a fresh one. That moment is rounded up, to a sixteenth of a
   * bucket's span or to the end of a slice, so that most writes can leave the expiry as it is, which saves Redis much work.
   */
  readonly expiry: string
}

/*
 * p is a policy: its kind, how many numbers its state has, then its params. A state is numbers, all 0 for a fresh one, and changes in
 * place. Times are milliseconds since the Unix epoch. Where it is done for every key of a batch, x - x % 1 stands for floor(x), and
 * x + -x % 1 for ceil(x): a Redis spends more time on a call of a function than on all else that a bucket needs.
 */
export const LUA_MATH = `
local floor, ceil, max, min, huge = math.floor, math.ceil, math.max, math.min, math.huge`

const TOKEN_BUCKET: LuaPolicy = {
  params: ['capacity', 'interval'],
  numbers: ['full_at'],
  once: `
    local at = floor(now * 4096) / 4096
    local span = capacity * interval -- from empty to full; more than that comes from a clock that was ahead
    local grid = span / 16`,
  take: `
    local owed = full_at > at and full_at - at or 0
    local after = (owed > span and span or owed) + cost * interval
    allowed = cost == 0 or after <= span
    changed = allowed and cost > 0 or not allowed and owed > span
    if changed then full_at = at + (allowed and after or span) end`,
  refund: `
    local give = min(cost * interval, (reset_at or taken_at + cost * interval) - now)
    give = floor(give * 4096) / 4096
    changed = give > 0
    if changed then full_at = min(full_at, at + span) - give end
    is_fresh = full_at <= now`,
  expiry: `
    local spans = full_at / grid
    expires_at = (spans + -spans % 1) * grid`,
}

const FIXED_WINDOW: LuaPolicy = {
  params: ['limit', 'window'],
  numbers: ['index', 'count'],
  once: `
    local now_index = floor(now / window)`,
  take: `
    local counts = index >= now_index
    local used = counts and count or 0
    local is_far_ahead = index > now_index + 1
    allowed = cost == 0 or used + cost <= limit
    changed = allowed and cost > 0 or not allowed and is_far_ahead
    if changed then
      index = is_far_ahead and now_index + 1 or counts and index or now_index
      count = allowed and used + cost or used
    end`,
  refund: `
    changed = index == floor(taken_at / window)
    if changed then count = count - cost end
    is_fresh = count <= 0`,
  expiry: `
    expires_at = (index + 1) * window`,
}

const CONSECUTIVE: LuaPolicy = {
  params: ['limit'],
  numbers: ['count'],
  once: '',
  take: `
    allowed = cost == 0 or count + cost <= limit
    changed = allowed and cost > 0
    if changed then count = count + cost end`,
  refund: `
    changed = true
    count = count - cost
    is_fresh = count <= 0`,
  expiry: `
    expires_at = count > 0 and huge or 0`,
}

const SLIDING_WINDOW: LuaPolicy = {
  params: ['limit', 'window', 'slices'],
  numbers: [],
  once: `
    local ticks = floor(now) * slices
    local now_index = floor(ticks / window)`,
  take: `
    local ahead = state[1] - now_index
    local shift = max(0, -ahead) -- so many slices have begun since the state was written
    local tick = ahead > 0 and 0 or ticks - now_index * window
    local used = shift > slices and 0 or floor(state[slices - shift + 2] * (window - tick) / window)
    for i = shift, slices - 1 do used = used + state[i - shift + 2] end
    allowed = cost == 0 or used + cost <= limit
    changed = allowed and cost > 0 or not allowed and ahead > slices
    if changed then
      state[1] = now_index + min(max(0, ahead), slices)
      if shift > 0 then
        for i = slices, 0, -1 do state[i + 2] = i >= shift and state[i - shift + 2] or 0 end
      end
      if allowed then state[2] = state[2] + cost end
    end`,
  refund: `
    local at = state[1] - floor(floor(taken_at) * slices / window) + 2
    changed = at >= 2 and at <= slices + 2 and state[at] > 0
    if changed then state[at] = max(0, state[at] - cost) end
    is_fresh = true
    for i = 2, slices + 2 do is_fresh = is_fresh and state[i] == 0 end`,
  expiry: `
    expires_at = (state[1] + slices + 1) * window / slices -- the newest slice leaves the window a window after its end`,
}

/** The pieces, for a policy and a state that are tables. Each stands alone. */
export function onTables({
  params,
  numbers,
  once,
  ...pieces
}: LuaPolicy): Pick<LuaPolicy, 'take' | 'refund' | 'expiry'> {
  const names = numbers.join(', ')
  const places = numbers.map((_, i) => `state[${i + 1}]`).join(', ')
  const values = params.map((_, i) => `p[${i + 3}]`).join(', ')
  const begin = [
    ...(params.length > 0 ? [`local ${params.join(', ')} = ${values}`] : []),
    ...(numbers.length > 0 ? [`local ${names} = ${places}`] : []),
    once,
  ].join('\n')
  const keep = numbers.length > 0 ? `${places} = ${names}` : ''
  return {
    take: [begin, pieces.take, keep].join('\n'),
    refund: [begin, pieces.refund, keep].join('\n'),
    expiry: [begin, pieces.expiry].join('\n'),
  }
}

/**
 * A ban from a policy. Its numbers stand behind those of the policy, in p from p[6] and in the state from state[p[2] - 3], so that the policy's
 * own code runs as it is.
 */
function banFrom(inner: LuaPolicy): LuaPolicy {
  const { take, refund, expiry } = onTables(inner)
  return {
    params: [],
    numbers: [],
    once: '',
    take: `
    local at, longest = p[2] - 4, p[#p] -- denials, until when they count, the last ban's number, until when it lasts
    if cost > 0 and state[at + 4] > now then
      do
        local cost = huge -- so much is never allowed: what a clock left behind is put right
        ${take}
      end
      if p[8] > 0 or state[at + 4] - now > longest then
        state[at + 4] = now + (p[8] > 0 and p[8 + state[at + 3]] or longest)
        changed = true
      end
    else
      do ${take}
      end
      if not allowed then
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
    do ${refund}
    end
    local at = p[2] - 4
    local is_held = state[at + 2] > now or state[at + 3] > 0 and state[at + 4] + p[#p] > now
    if is_fresh and is_held then
      for i = 1, at do state[i] = 0 end
      is_fresh = false
    end`,
    expiry: `
    do ${expiry}
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
