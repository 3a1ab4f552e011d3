import type { Policy } from '../../../policies/policy.js'

/** A policy of src/policies in Lua: pieces of code for a function or a loop. */
export interface LuaPolicy {
  /** The locals that hold the policy's params, in order. None for a policy whose pieces read `p`. */
  readonly params: readonly string[]
  /** The locals that hold a state's numbers. None for a policy whose pieces use the table `state`. */
  readonly numbers: readonly string[]
  /** Sets the locals that depend on the params and `now` only. Runs once for many states. */
  readonly once: string
  /** `clampToNow`: changes the state, and sets `changed`, where a clock that was ahead wrote it. */
  readonly clamp: string
  /** `take` of a clamped state and a `cost` above 0. Sets `allowed`, and `changed` with the state. */
  readonly take: string
  /** `refund` from `cost`, `taken_at` and `reset_at`, which may be nil. Sets `changed` and `is_fresh`. */
  readonly refund: string
  /**
   * Sets `expires_at`, a time at which the state is fresh: rounded up to a sixteenth of a bucket's span or
   * to the end of a slice, so that most writes need not change the key's expiry.
   */
  readonly expiry: string
}

/*
 * `p` is a policy: its kind, how many numbers its state has, then its params. A state is numbers, all 0 when
 * fresh, and changes in place. Times are milliseconds since the Unix epoch. Code that runs for every key
 * avoids function calls, which cost more than the rest: x - x % 1 is floor(x), and x + -x % 1 is ceil(x).
 */
export const LUA_MATH = `
local floor, ceil, max, min, huge = math.floor, math.ceil, math.max, math.min, math.huge`

const TOKEN_BUCKET: LuaPolicy = {
  params: ['capacity', 'interval'],
  numbers: ['full_at'],
  once: `
    local at = floor(now * 4096) / 4096
    local span = capacity * interval -- from empty to full
    local grid = span / 16`,
  clamp: `
    if full_at > at + span then full_at, changed = at + span, true end`,
  take: `
    local debt = full_at > at and full_at - at or 0
    local after = (debt > span and span or debt) + cost * interval
    allowed = after <= span
    if allowed then full_at, changed = at + after, true end`,
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
  clamp: `
    if index > now_index + 1 then index, changed = now_index + 1, true end`,
  take: `
    local used = index >= now_index and count or 0
    allowed = used + cost <= limit
    if allowed then
      index = index > now_index and index or now_index
      count, changed = used + cost, true
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
  clamp: '',
  take: `
    allowed = count + cost <= limit
    if allowed then count, changed = count + cost, true end`,
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
      if shift > 0 then
        state[1] = now_index
        for i = slices, 0, -1 do state[i + 2] = i >= shift and state[i - shift + 2] or 0 end
      end
      state[2], changed = state[2] + cost, true
    end`,
  refund: `
    local at = state[1] - floor(floor(taken_at) * slices / window) + 2
    changed = at >= 2 and at <= slices + 2 and state[at] > 0
    if changed then state[at] = max(0, state[at] - cost) end
    is_fresh = true
    for i = 2, slices + 2 do is_fresh = is_fresh and state[i] == 0 end`,
  expiry: `
    -- The newest slice leaves the window a window after its end.
    expires_at = (state[1] + slices + 1) * window / slices`,
}

/** Returns self-contained pieces, which read the policy from the table `p` and the state from `state`. */
export function onTables({ params, numbers, once, ...pieces }: LuaPolicy): LuaPolicy {
  const names = numbers.join(', ')
  const fields = numbers.map((_, i) => `state[${i + 1}]`).join(', ')
  const values = params.map((_, i) => `p[${i + 3}]`).join(', ')
  const load = [
    ...(params.length > 0 ? [`local ${params.join(', ')} = ${values}`] : []),
    ...(numbers.length > 0 ? [`local ${names} = ${fields}`] : []),
    once,
  ].join('\n')
  const save = numbers.length > 0 ? `${fields} = ${names}` : ''
  const wrap = (piece: keyof typeof pieces) => [load, pieces[piece], save].join('\n')
  const [clamp, take, refund, expiry] = [wrap('clamp'), wrap('take'), wrap('refund'), wrap('expiry')]
  return { params: [], numbers: [], once: '', clamp, take, refund, expiry }
}

/**
 * Returns the ban of a policy. Its params follow those of the policy, from p[6] on (after, within, whether
 * attempts restart a ban, the bans), and its record follows the policy's state (strikes, when they cease to
 * count, level, end of the ban), so that the policy's own pieces run unchanged.
 */
function banFrom(inner: LuaPolicy): LuaPolicy {
  const { clamp, take, refund, expiry } = onTables(inner)
  return {
    params: [],
    numbers: [],
    once: '',
    clamp: `
    do ${clamp}
    end
    local at, longest = p[2] - 4, p[#p]
    if state[at + 2] > now + p[7] then state[at + 2], changed = now + p[7], true end
    if state[at + 4] > now + longest then state[at + 4], changed = now + longest, true end`,
    take: `
    local at, longest = p[2] - 4, p[#p]
    if state[at + 4] > now then
      allowed = false
      if p[8] > 0 then state[at + 4], changed = now + p[8 + state[at + 3]], true end
    else
      do ${take}
      end
      if not allowed then
        local goes_on = state[at + 2] > now
        local strikes = goes_on and state[at + 1] + 1 or 1
        changed = true
        if strikes < p[6] then
          state[at + 1] = strikes
          if not goes_on then state[at + 2] = now + p[7] end
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
    local has_record = state[at + 2] > now or state[at + 3] > 0 and state[at + 4] + p[#p] > now
    if is_fresh and has_record then
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
