import type { LuaKind, LuaState } from './lua-kind.js'

/**
 * A state whose length varies: `log` holds its times as bytes, which take less time than a table of up to
 * 1,000 numbers. A state has times, or the record of a ban, and expires later than its last time.
 */
function logState(record: readonly string[]): LuaState {
  const names = record.join(', ')
  const recordBytes = 8 * record.length
  const format = `'<${'d'.repeat(record.length)}'`
  return {
    once: '',
    size: String(-(8 + recordBytes)),
    isState: `#bytes % 8 == 0 and #bytes >= ${Math.max(16, 8 + recordBytes)} and #bytes <= ${8008 + recordBytes}
      and (unpack_numbers('<d', bytes)) > (#bytes > ${8 + recordBytes} and (unpack_numbers('<d', bytes, #bytes - ${recordBytes + 7})) or 0)`,
    unpack: `local held = unpack_numbers('<d', bytes)
    local log = string.sub(bytes, 9, ${-1 - recordBytes})${names && `\n    local ${names} = unpack_numbers(${format}, bytes, #bytes - ${recordBytes - 1})`}`,
    clear: `log = ''`,
    seal: '',
    pack: `pack_numbers('<d', expires_at) .. log${names && ` .. pack_numbers(${format}, ${names})`}`,
    withRecord: logState,
  }
}

/** State: the times of the units, oldest first. */
export const SLIDING_LOG: LuaKind = {
  params: { limit: 'limit', windowMs: 'window' },
  once: `
    local whole_now = ceil(now)
    local function count_until(log, at)
      local low, high = 0, #log / 8
      while low < high do
        local middle = floor((low + high) / 2)
        if (unpack_numbers('<d', log, 8 * middle + 1)) <= at then low = middle + 1 else high = middle end
      end
      return low
    end`,
  state: logState([]),
  clamp: `
    local possible = count_until(log, whole_now)
    if possible < #log / 8 then
      log = string.sub(log, 1, 8 * possible) .. string.rep(pack_numbers('<d', whole_now), #log / 8 - possible)
      changed = true
    end`,
  take: `
    local expired = count_until(log, now - window)
    allowed = #log / 8 - expired + cost <= limit
    if allowed then log = string.sub(log, 8 * expired + 1) .. string.rep(pack_numbers('<d', whole_now), cost) end`,
  left: `
    left = max(0, limit - (#log / 8 - count_until(log, now - window)))`,
  refund: `
    local taken = ceil(taken_at)
    local stop = count_until(log, taken)
    local units = min(cost, stop - count_until(log, taken - 1))
    changed = units > 0 and taken + window > now
    if changed then log = string.sub(log, 1, 8 * (stop - units)) .. string.sub(log, 8 * stop + 1) end
    is_fresh = changed and log == ''`,
  reward: `
    log = string.sub(log, 1, max(0, #log - 8 * cost))
    changed, is_fresh = true, count_until(log, now - window) == #log / 8`,
  expiry: `
    expires_at = #log > 0 and unpack_numbers('<d', log, #log - 7) + window or 0`,
}
