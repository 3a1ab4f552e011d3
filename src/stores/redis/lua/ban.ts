import { BASE_PARAMS } from '../../../policies/spec.js'
import type { LuaPolicy } from './lua-policy.js'

/**
 * Returns the ban of a policy. The ban's params follow the `baseParams` of the policy: after, within,
 * whether attempts restart a ban, and the bans. With 0 for after, denials do not count. The ban's record
 * follows the policy's state: strikes, when they stop counting, level, and end of the ban. So the policy's
 * own pieces run unchanged. A state that holds only a record has the policy's numbers.
 */
export function banFrom(base: LuaPolicy, baseParams = BASE_PARAMS): LuaPolicy {
  const [after, within, restarts] = [baseParams + 3, baseParams + 4, baseParams + 5]
  const { once, blank = '', clamp, take, refund, left, reward, expiry, length, outdated, isLog } = base
  const recordWhere = length === undefined ? '' : placesByLength(length)
  const keepRecord = `
    local has_record = state[strikes_end] > now or state[level] > 0 and state[ban_end] + longest > now
    if is_fresh and has_record then
      is_fresh = false
      ${keepingRecord(blank, length)}
    end`
  return {
    once: `${once}
    local strikes, strikes_end, level, ban_end = p[2] - 3, p[2] - 2, p[2] - 1, p[2] -- places in the state
    local limit_of_strikes, within, restarts, longest = p[${after}], p[${within}], p[${restarts}] > 0, p[#p]`,
    clamp: `${isLog ? recordWhere + clamp : keepingRecord(clamp, length)}
    if state[strikes_end] > now + within then state[strikes_end], changed = now + within, true end
    if state[ban_end] > now + longest then state[ban_end], changed = now + longest, true end`,
    take: `
    if state[ban_end] > now then
      allowed = false
      if restarts then state[ban_end], changed = max(state[ban_end], now + (p[${restarts} + state[level]] or longest)), true end
    else
      ${isLog ? keepingRecord(take, length, 'allowed and ') : take}
      if not allowed and limit_of_strikes > 0 then
        changed = true
        local goes_on = state[strikes_end] > now
        local count = goes_on and state[strikes] + 1 or 1
        if count < limit_of_strikes then
          state[strikes] = count
          if not goes_on then state[strikes_end] = now + within end
        else
          local next_level = state[ban_end] + longest > now and min(state[level] + 1, #p - ${restarts}) or 1
          state[strikes], state[strikes_end], state[level] = 0, 0, next_level
          state[ban_end] = now + p[${restarts} + next_level]
        end
      end
    end
    if changed and state[1] == 0 then ${blank} end`,
    refund: `${recordWhere}${refund}${keepRecord}`,
    left: `
    if state[ban_end] > now then left = 0 else ${left} end`,
    reward: `${reward}${keepRecord}`,
    block: `
    local escalates = state[ban_end] + longest > now
    state[strikes], state[strikes_end], state[level] = 0, 0, escalates and max(1, state[level]) or 1
    state[ban_end] = max(state[ban_end], now + ban)
    if state[1] == 0 then ${blank} end`,
    expiry: `${recordWhere}${expiry}
    -- A past ban is kept for the longest ban of the policy that wrote the state.
    moves = state[level] > 0
    expires_at = max(expires_at, state[strikes_end], moves and state[ban_end] + longest or 0)`,
    ...(length && { length: `${length} + 4` }),
    ...(outdated && { outdated }),
    ...(isLog && { isLog }),
  }
}

/** Finds the record of a state that may have more or fewer numbers than the policy's. */
function placesByLength(length: string): string {
  return `
    local ban_end = ${recordEnd(length)}
    local strikes, strikes_end, level = ban_end - 3, ban_end - 2, ban_end - 1`
}

/**
 * Moves the record along when `code` changes the length of the base policy's state. `where` says when it
 * does.
 */
function keepingRecord(code: string, length: string | undefined, where = ''): string {
  if (length === undefined) return code
  return `
    local stored_end = ${recordEnd(length)}
    local r1, r2, r3, r4 = unpack(state, stored_end - 3, stored_end)
    ${code}
    if ${where}stored_end ~= p[2] then state[p[2] - 3], state[p[2] - 2], state[p[2] - 1], state[p[2]] = r1, r2, r3, r4 end`
}

/** Where the record of a state ends, by how many numbers its base policy's state has. */
function recordEnd(length: string): string {
  return `(state[1] > 0 and ${length} + 4 or p[2])`
}
