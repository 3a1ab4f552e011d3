import { LUA_POLICIES, onTables } from './policies.js'
import { BEGIN, COMMON_HEAD, END, script, WRITE } from './prelude.js'

const POLICIES_HEAD = `  ARGV[1]  JSON: a list of policies, each [kind, number of numbers in its state, params (units, ms)...].`

const CHARGE_HEAD = `--[[
  Decides charges in order, each all or nothing.
${POLICIES_HEAD}
  ARGV[2]  JSON: for each charge a flat list of its parts, each key, policy, cost (units).
${COMMON_HEAD}`

const REFUND_HEAD = `--[[
  Refunds units. Missing keys stay missing.
${POLICIES_HEAD}
  ARGV[2]  JSON: a list of refunds, each key, policy, cost (units), when it was taken (ms), and, where it is known, when
           the key would have been fresh again (ms).
${COMMON_HEAD}`

/** Decodes the policies, and defines their functions and `state_of`. */
const POLICIES = `
local take, refund, expiry = {}, {}, {}
${Object.entries(LUA_POLICIES)
  .map(([kind, policy]) => {
    const lua = onTables(policy)
    return `
take['${kind}'] = function(p, state, now, cost)
  local allowed, changed = true, false
  if cost > 0 then ${lua.clamp}
  ${lua.take}
  end
  return allowed, changed
end
refund['${kind}'] = function(p, state, now, cost, taken_at, reset_at)
  local changed, is_fresh ${lua.refund}
  return changed, is_fresh
end
expiry['${kind}'] = function(p, state)
  local expires_at ${lua.expiry}
  return expires_at
end`
  })
  .join('\n')}

local policies = cjson.decode(ARGV[1])
for _, p in ipairs(policies) do
  p.format = '<' .. string.rep('d', p[2])
  p.fresh = string.rep('\\0', 8 * p[2])
end

-- By number of the key.
local states, policy_of, held, changed, is_fresh = {}, {}, {}, {}, {}

-- The present state of a key, or nil for a foreign key.
local function state_of(k, p)
  local state = states[k]
  if state ~= nil then return state or nil end
  local bytes = raw[k]
  if bytes and #bytes ~= #p.fresh or not bytes and call('EXISTS', keys[k]) > 0 then
    foreign = foreign or {}
    foreign[#foreign + 1] = k
    raw[k], states[k] = p.fresh, false
    return nil
  end
  raw[k] = bytes or p.fresh
  state = { unpack_numbers(p.format, raw[k]) } -- its numbers, then the position where unpacking stopped
  states[k], policy_of[k] = state, p
  if bytes then held[k] = expiry[p[1]](p, state) end
  return state
end
`

/** Writes the states that changed. */
const WRITE_CHANGED = `
for k, p in pairs(policy_of) do
  local key, state, held_until = keys[k], states[k], held[k]
  if refused or not changed[k] then
    -- nothing to write
  elseif is_fresh[k] then
    local reply = try('DEL', key)
    refused = type(reply) == 'table' and reply.err or nil
  else
    local bytes = pack_numbers(p.format, unpack(state, 1, p[2]))
    local expires_at = expiry[p[1]](p, state)
    ${WRITE}
  end
end
`

export const CHARGE_SCRIPT = script(
  CHARGE_HEAD,
  BEGIN,
  POLICIES,
  `
local function take_part(charge, i, cost)
  local k, p = charge[i], policies[charge[i + 1]]
  return take[p[1]](p, states[k], now, cost)
end

local function decide(charge)
  local before, has_foreign = {}, false
  for i = 1, #charge, 3 do
    local state = state_of(charge[i], policies[charge[i + 1]])
    if state then before[charge[i]] = { unpack(state) } else has_foreign = true end
  end
  if has_foreign then return end
  local denied, touched, wanted = {}, {}, {}
  for i = 1, #charge, 3 do
    local k, cost = charge[i], charge[i + 2]
    local allowed, is_changed = take_part(charge, i, cost)
    local sum = (wanted[k] or 0) + cost -- what the charge wants of the key so far
    if allowed then wanted[k] = sum else denied[i] = sum end
    if is_changed then touched[k] = true end
  end
  if next(denied) then
    touched = {}
    for k, state in pairs(before) do states[k] = state end
    -- A ban counts the denial, once per key; a state from a clock ahead is clamped.
    for i, sum in pairs(denied) do
      local k = charge[i]
      if touched[k] == nil then
        local _, is_changed = take_part(charge, i, sum)
        touched[k] = is_changed
      end
    end
  end
  for k, is_changed in pairs(touched) do changed[k] = changed[k] or is_changed end
end

for _, charge in ipairs(cjson.decode(ARGV[2])) do decide(charge) end
`,
  WRITE_CHANGED,
  END,
)

export const REFUND_SCRIPT = script(
  REFUND_HEAD,
  BEGIN,
  POLICIES,
  `
for _, wanted in ipairs(cjson.decode(ARGV[2])) do
  local k, p, cost = wanted[1], policies[wanted[2]], wanted[3]
  local state = state_of(k, p)
  if state and cost > 0 then
    local did_change, is_fresh_now = refund[p[1]](p, state, now, cost, wanted[4], wanted[5])
    if did_change then changed[k], is_fresh[k] = true, is_fresh_now end
  end
end
`,
  WRITE_CHANGED,
  END,
)
