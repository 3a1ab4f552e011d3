import { GRID_PER_MS, MAX_MISSING_MS } from '../../../policies/bucket-grid.js'
import type { LuaPolicy } from './lua-policy.js'

/** Sets whether times of an interval are on the grid, and their unit: `bucketUnit`. */
function unitOf(interval: string, onGrid: string, unit: string): string {
  return `local ${onGrid}, ${unit} = ${interval} * ${GRID_PER_MS} % 1 == 0, 1 / ${GRID_PER_MS}
      while not ${onGrid} and ${interval} / ${unit} < 16384 do ${unit} = ${unit} / 2 end`
}

/** Sets `missing`: how long the bucket takes to fill at this policy's rate. */
const CLAMP = `
    local missing, stored = 0, state[5] - (at - state[3])
    if stored > 0 then
      if state[1] == capacity and state[2] == interval and state[4] == debt then
        missing = stored
        if stored > most then
          missing, changed = most, true
          if on_grid then state[3] = at + most else state[3], state[5] = at, most end
        end
      elseif state[2] > 0 then
        missing = min(stored, (state[1] + state[4]) * state[2])
        local share = scales and state[1] ~= capacity and capacity / state[1] or 1
        if share ~= 1 or state[2] ~= interval then
          missing = min(ceil(missing / state[2] * share * interval / unit - 1e-6) * unit, ${MAX_MISSING_MS}.0)
        end
        local needed = max(debt, ceil(missing / interval) - capacity)
        if missing ~= stored or state[1] ~= capacity or state[2] ~= interval or state[4] ~= needed then
          state[1], state[2], state[3], state[4], state[5] = capacity, interval, at, needed, missing
          if on_grid then state[3], state[5] = at + missing, 0 end
          changed = true
        end
      end
    end`

const REFUND = `
    local pending = reset_at and reset_at - now or cost * interval + (taken_at - now)
    local back = min(cost * interval, pending)
    changed = false
    if back > 0 and state[2] > 0 then
      local share = scales and state[1] ~= capacity and state[1] / capacity or 1
      if share ~= 1 or state[2] ~= interval then
        local queued = (pending + (now - taken_at)) / interval - (now - taken_at) / state[2]
        back = min(back / interval, queued) * share * state[2]
      end
      ${unitOf('state[2]', 'is_on_grid', 'stored_unit')}
      back = floor(back / stored_unit) * stored_unit
      if back > 0 then
        local left = min(state[5] - (at - state[3]), (state[1] + state[4]) * state[2]) - back
        changed, is_fresh = true, left <= now - at
        if is_on_grid then state[3], state[5] = at + left, 0 else state[3], state[5] = at, left end
      end
    end`

/**
 * State: the capacity, the time in which a token is refilled, when the bucket is full again, the most tokens
 * that may be owed, and 0. If the times are not on the grid, the third number is the time of the last write,
 * and the last number is how long the refill takes from then on.
 */
export const TOKEN_BUCKET: LuaPolicy = {
  least: 3,
  once: `
    local capacity, interval, debt, scales = p[3], p[4], p[5], p[6] == 1
    local at = floor(now * ${GRID_PER_MS}) / ${GRID_PER_MS}
    local span = capacity * interval -- from empty to full
    local most = (capacity + debt) * interval
    ${unitOf('interval', 'on_grid', 'unit')}`,
  blank: `
      state[1], state[2], state[3], state[4], state[5] = capacity, interval, 0, debt, 0`,
  clamp: CLAMP,
  take: `
    local after = missing + cost * interval
    allowed = after <= (may_owe and most or span)
    if allowed then
      state[1], state[2], state[3], state[4], state[5] = capacity, interval, at, debt, after
      if on_grid then state[3], state[5] = at + after, 0 end
      changed = true
    end`,
  refund: REFUND,
  left: `
    if missing > span then left = max(0, debt - ceil((missing - span) / interval))
    else left = floor((span - missing) / interval) + debt end`,
  reward: `
    local taken_at, reset_at = now, nil
    ${REFUND}`,
  expiry: `
    local grid = state[1] * state[2] / 16
    local spans = (state[3] + state[5]) / grid
    expires_at = (spans + -spans % 1) * grid`,
}
