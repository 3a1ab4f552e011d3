import { GRID_PER_MS } from '../../../policies/bucket-grid.js'
import type { LuaPolicy } from './lua-policy.js'

const BUCKET_REFUND = `
    local give = min(cost * interval, (reset_at or taken_at + cost * interval) - now)
    give = floor(give * ${GRID_PER_MS}) / ${GRID_PER_MS}
    changed = give > 0
    if changed then state[1] = min(state[1], at + span) - give end
    is_fresh = state[1] <= now`

/** State: when the bucket is full again. */
export const TOKEN_BUCKET: LuaPolicy = {
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
