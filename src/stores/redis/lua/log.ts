import type { LuaPolicy } from './lua-policy.js'

/** How many numbers a state has: four, and then one for every two slots. */
const LENGTH = '4 + ceil(state[1] / 2)'
/**
 * The upper bound of times in ticks after the base, two in a number. A window has at most half as many
 * ticks.
 */
const RANGE = '67108864'
const WINDOW_TICKS = '33554432'

/**
 * A translation of packed-times.ts. `slots` and `tick` describe the state. `measure` sets them, because
 * states may have the numbers of another limit and window.
 */
const TIMES = `
    local slots, tick
    local function tick_for(length)
      local ms = 1
      while ms * ${WINDOW_TICKS} < length do ms = ms * 2 end
      return ms
    end
    local function measure()
      slots, tick = 2 * ceil(state[1] / 2), tick_for(state[2])
    end
    local function slot_at(rank)
      local slot = state[4] - 1 - rank
      return slot < 0 and slot + slots or slot
    end
    local function ticks_at(rank)
      local slot = slot_at(rank)
      local pair = state[5 + (slot - slot % 2) / 2]
      local second = floor(pair / ${RANGE})
      return slot % 2 == 0 and pair - second * ${RANGE} or second
    end
    local function time_at(rank)
      local ticks = ticks_at(rank)
      return ticks == 0 and -huge or (state[3] + ticks) * tick
    end
    local function set_slot(slot, ticks)
      local at = 5 + (slot - slot % 2) / 2
      local second = floor(state[at] / ${RANGE})
      local first = state[at] - second * ${RANGE}
      if slot % 2 == 0 then first = ticks else second = ticks end
      state[at] = second * ${RANGE} + first
    end
    local function count_after(at)
      local low, high = 0, slots
      while low < high do
        local middle = floor((low + high) / 2)
        if time_at(middle) > at then low = middle + 1 else high = middle end
      end
      return low
    end
    local function push(ticks)
      local slot = state[4]
      set_slot(slot, ticks)
      state[4] = slot + 1 == slots and 0 or slot + 1
    end
    local function remove(rank, count)
      local newest = slot_at(count)
      for newer = rank - 1, 0, -1 do set_slot(slot_at(newer + count), ticks_at(newer)) end
      for empty = 0, count - 1 do set_slot(slot_at(empty), 0) end
      state[4] = (newest + 1) % slots
    end
    local function rewrite(to_limit, to_window)
      local to_tick = tick_for(to_window)
      local now_tick = ceil(now / to_tick)
      local base = now_tick - 1 - ${WINDOW_TICKS}
      local kept = {}
      for rank = slots - 1, 0, -1 do
        local at = min(ceil(time_at(rank) / to_tick), now_tick)
        if at > base then kept[#kept + 1] = at - base end
      end
      state[1], state[2], state[3], state[4] = to_limit, to_window, base, 0
      for i = 5, ${LENGTH} do state[i] = 0 end
      measure()
      for _, ticks in ipairs(kept) do push(ticks) end
    end`

/**
 * State: the limit, the window, the base, the slot to write next, then the times of units, two in a number.
 */
export const SLIDING_LOG: LuaPolicy = {
  once: `
    local limit, window = p[3], p[4]${TIMES}`,
  blank: `
      state[1], state[2], state[3], state[4] = limit, window, 0, 0
      for i = 5, ${LENGTH} do state[i] = 0 end`,
  clamp: `
    measure()
    if slots > 0 and time_at(0) > ceil(now / tick) * tick then
      rewrite(state[1], state[2])
      changed = true
    end`,
  take: `
    allowed = count_after(now - window) + cost <= limit
    if allowed then
      local own_tick = tick_for(window)
      local now_tick = ceil(now / own_tick)
      local is_in_place = state[1] == limit and state[2] == window and now_tick - state[3] < ${RANGE}
      if not is_in_place then rewrite(limit, window) end
      for _ = 1, cost do push(now_tick - state[3]) end
      changed = true
    end`,
  refund: `
    measure()
    local taken_time = ceil(taken_at / tick) * tick
    local newer = count_after(taken_time)
    local units = min(cost, count_after(taken_time - 1) - newer)
    changed = units > 0 and taken_time + window > now
    if changed then remove(newer, units) end
    is_fresh = changed and count_after(now - window) == 0`,
  left: `
    left = max(0, limit - count_after(now - window))`,
  reward: `
    local units = min(cost, count_after(now - window))
    if units > 0 then remove(0, units) end
    changed, is_fresh = true, count_after(now - window) == 0`,
  expiry: `
    measure()
    expires_at = slots > 0 and time_at(0) + max(state[2], window) or 0`,
  length: LENGTH,
  isLog: true,
}
