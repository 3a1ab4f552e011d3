import type { LuaKind } from './lua-kind.js'

/** The names of a record's numbers, which follow the state of the policy. */
const RECORD = ['strikes', 'strikes_end', 'level', 'ban_end']

/**
 * Returns the kind of a ban of policies of a kind. In ARGV, after the params of the policy come those of the
 * ban: `after`, `within`, whether attempts restart a ban, how many bans there are, and their lengths. With 0
 * for `after`, denials do not count.
 */
export function banOf(base: LuaKind): LuaKind {
  const { once, state, clamp, take, left, refund, reward, expiry } = base
  // The policy's units are back, but the ban's record stays.
  const keepRecord = `
    if is_fresh and (strikes_end > now or level > 0 and ban_end + longest > now) then
      is_fresh = false
      ${state.clear}
    end`
  return {
    ...base,
    once: `${once}
    local strike_limit, within, restarts, bans = ARGV[p + 1] + 0.0, ARGV[p + 2] + 0.0, ARGV[p + 3] == '1', {}
    p = p + 4
    for i = 1, ARGV[p] + 0 do bans[i] = ARGV[p + i] + 0.0 end
    p = p + #bans
    local longest = bans[#bans]`,
    state: state.withRecord(RECORD),
    clamp: `${clamp}
    if strikes_end > now + within then strikes_end, changed = now + within, true end
    if ban_end > now + longest then ban_end, changed = now + longest, true end`,
    take: `
    if ban_end > now then
      allowed = false
      if restarts then ban_end, changed = max(ban_end, now + (bans[level] or longest)), true end
    else
      ${take}
      if not allowed and strike_limit > 0 then
        changed = true
        local goes_on = strikes_end > now
        strikes = goes_on and strikes + 1 or 1
        if not goes_on then strikes_end = now + within end
        if strikes >= strike_limit then
          level = ban_end + longest > now and min(level + 1, #bans) or 1
          strikes, strikes_end, ban_end = 0, 0, now + (bans[level] or longest)
        end
      end
    end`,
    left: `
    if ban_end > now then left = 0 else ${left} end`,
    refund: `${refund}${keepRecord}`,
    reward: `${reward}${keepRecord}`,
    block: `
    level = ban_end + longest > now and max(1, level) or 1
    strikes, strikes_end, ban_end, changed = 0, 0, max(ban_end, now + cost), true`,
    expiry: `${expiry}
    expires_at = max(expires_at, strikes_end, level > 0 and ban_end + longest or 0)`,
  }
}
