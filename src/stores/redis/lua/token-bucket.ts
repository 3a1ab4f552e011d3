import { GRID_PER_MS, MAX_MISSING_MS } from '../../../policies/bucket-grid.js'
import { type LuaKind, numbersState } from './lua-kind.js'

/** Sets `written`: how long the missing tokens take to be refilled, from `at` on. */
const FIND_WRITTEN = `
    local written = missing * per_token - rounding
    written = (written + -written % 1) * unit`

/** Sets `missing_ms`: how long the bucket takes to fill. A clock that was ahead adds a full refill at most. */
const FIND_MISSING = `
    local missing_ms = written - (now_on_grid - at)
    if missing_ms < 0 then missing_ms = 0
    elseif missing_ms > written then missing_ms = min(missing_ms, max(written, most)) end
    if missing_ms > ${MAX_MISSING_MS} then missing_ms = ${MAX_MISSING_MS}.0 end`

/** Gives tokens back that take `back` to be refilled, and keeps the time of the state. */
const GIVE_BACK = `
    back = floor(back / unit) * unit
    if back > 0 then
      ${FIND_MISSING}
      written = written - back
      if at > now_on_grid then at, written = now_on_grid, missing_ms - back end
      missing, changed, is_fresh = written / interval, true, written <= 0
    end`

/** State: how many tokens were missing after the last charge, and its time. */
export const TOKEN_BUCKET: LuaKind = {
  params: { capacity: 'capacity', intervalMs: 'interval', debt: 'debt' },
  once: `
    local now_on_grid = floor(now * ${GRID_PER_MS}) / ${GRID_PER_MS}
    local span, most = capacity * interval, (capacity + debt) * interval
    local room = span
    local unit = 1 / ${GRID_PER_MS}
    if interval * ${GRID_PER_MS} % 1 ~= 0 then
      while interval / unit < 16384 do unit = unit / 2 end
    end
    local per_token = interval / unit
    local rounding = min(0.5, (capacity + debt) * per_token * ${2 ** -51})
    local grid = span / 16`,
  state: numbersState('missing', 'at'),
  clamp: `${FIND_WRITTEN}
    if at > now then
      local possible = max(written, most)
      if possible < written - (now_on_grid - at) then
        written, missing, at, changed = possible, possible / interval, now_on_grid, true
      end
    end`,
  take: `${FIND_MISSING}
    missing_ms = missing_ms + cost * interval
    allowed = missing_ms <= room
    if allowed then written, missing, at = missing_ms, missing_ms / interval, now_on_grid end`,
  owe: 'room = most',
  left: `${FIND_MISSING}
    if missing_ms > span then left = max(0, debt - ceil((missing_ms - span) / interval))
    else left = floor((span - missing_ms) / interval) + debt end`,
  refund: `${FIND_WRITTEN}
    local back = min(cost * interval, reset_at < huge and reset_at - now or cost * interval + (taken_at - now))
    ${GIVE_BACK}`,
  reward: `
    local back = cost * interval
    ${GIVE_BACK}
    if changed and not is_fresh then is_fresh = written - (now - at) <= 0 end`,
  expiry: `
    local full_at = at + written
    if full_at <= held and full_at > held - grid then expires_at = held
    else
      local spans = full_at / grid
      expires_at = missing > 0 and (spans + -spans % 1) * grid or 0
    end`,
}
