import type { LuaKind } from './lua-kind.js'

/** The names of a record's numbers, which follow the state of the policy. */
const RECORD = ['strikes', 'since', 'level', 'ban_end']

/**
 * Returns the kind of a ban of policies of a kind. In ARGV, after the params of the policy come those of the
 * ban: `after`, `within`, whether attempts restart a ban, how many bans there are, and their lengths. With 0
 * for `after`, denials do not count.
 */
export function banOf(base: LuaKind): LuaKind {
  const { once, state, clamp, take, left, refund, reward, expiry } = base
  // The policy's units are back, but the ban's record stays.
  const keepRecord = `
    if is_fresh and (strikes > 0 and since + within > now or level > 0 and ban_end + longest > now) then
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
    if since > now then since, ban_end, changed = now, min(ban_end, now + max(0, ban_end - since)), true end`,
    take: `
    if ban_end > now then
      allowed = false
      if restarts then since, ban_end, changed = now, max(ban_end, now + (bans[level] or longest)), true end
    else
      ${take}
      if not allowed and strike_limit > 0 then
        changed = true
        if strikes == 0 or since + within <= now then strikes, since = 0, now end
        strikes = strikes + 1
        if strikes >= strike_limit then
          level = ban_end + longest > now and min(level + 1, #bans) or 1
          strikes, since, ban_end = 0, now, now + (bans[level] or longest)
        end
      end
    end`,
    left: `
    if ban_end > now then left = 0 else ${left} end`,
    refund: `${refund}${keepRecord}`,
    reward: `${reward}${keepRecord}`,
    block: `
    level = ban_end + longest > now and max(1, level) or 1
    strikes, since, ban_end, changed = 0, now, max(ban_end, now + cost), true`,
    expiry: `${expiry}
    expires_at = max(expires_at, strikes > 0 and since + within or 0, level > 0 and ban_end + longest or 0)`,
  }
}
