import { once } from '../../../util/memo.js'
import type { LuaPolicy } from './lua-policy.js'
import { LUA_POLICIES } from './policies.js'
import { MAX_BYTES, REPLY_TIME, script, WRITE } from './prelude.js'

const POLICIES_HEAD = `
  ARGV[1]  JSON: a list of policies, each [kind, number of numbers in its state, params (units, ms)...].
  ARGV[2]  JSON: the policy of each key.`

/**
 * Defines the function `name` of each kind of policy. Its body is the code that `bodyOf` returns; kinds
 * without any have no such function. `args` follow the policy and the state; `locals` is what the code sets
 * and the function returns.
 */
function functions(
  name: string,
  args: string,
  locals: string,
  bodyOf: (lua: LuaPolicy) => string | undefined,
): string {
  const definitions = Object.entries(LUA_POLICIES).map(([kind, lua]) => {
    const body = bodyOf(lua)
    if (body === undefined) return ''
    return `${name}['${kind}'] = function(p, state${args})
  local ${locals} ${lua.once} ${body}
  return ${locals}
end\n`
  })
  return `local ${name} = {}\n${definitions.join('')}`
}

/** The `least` of each kind whose states are stored without their trailing zeros. */
const LEAST = Object.entries(LUA_POLICIES)
  .flatMap(([kind, { least }]) => (least === undefined ? [] : [`['${kind}'] = ${least}`]))
  .join(', ')

/** The `outdated` of each kind whose params may be for another time than now. */
const OUTDATED = Object.entries(LUA_POLICIES)
  .flatMap(([kind, { outdated }]) => (outdated ? [`['${kind}'] = function(p) return ${outdated} end`] : []))
  .join(', ')

const LOGS = Object.entries(LUA_POLICIES)
  .flatMap(([kind, { isLog }]) => (isLog ? [`['${kind}'] = true`] : []))
  .join(', ')

/** Decodes the policies, defines their functions, and reads the states. */
const POLICIES = `
${functions('take', ', cost, may_owe', 'allowed, changed', ({ clamp, take }) => {
  return `allowed, changed = true, false if cost > 0 then ${clamp} ${take} end`
})}
${functions('refund', ', cost, taken_at, reset_at', 'changed, is_fresh', ({ refund }) => refund)}
${functions('expiry', '', 'expires_at, moves', ({ expiry }) => expiry)}
${functions('length', '', 'length', ({ length }) => length && ` length = ${length}`)}
local outdated = { ${OUTDATED} }
local policies = cjson.decode(ARGV[1])
for _, p in ipairs(policies) do
  p.fresh = string.rep('\\0', 8 * p[2])
  for i = 3, #p do p[i] = p[i] + 0.0 end
  if outdated[p[1]] and outdated[p[1]](p) then ${REPLY_TIME} end
end

local least = { ${LEAST} }
local is_log = { ${LOGS} }

-- Reads the state of a key, with or without its trailing zeros. Returns its numbers, and where unpacking ended.
local function read_state(k, p)
  local bytes = raw[k]
  local count = bytes and #bytes / 8
  if count and count % 1 == 0 and count > 0 then
    if count < p[2] and count >= (least[p[1]] or huge) then
      raw[k] = bytes .. string.sub(p.fresh, #bytes + 1)
      return { unpack_numbers(formats(p[2]), raw[k]) }
    end
    if count == p[2] and not is_log[p[1]] then return { unpack_numbers(formats(count), bytes) } end
    local state = length[p[1]] and count <= ${MAX_BYTES / 8} and { unpack_numbers(formats(count), bytes) }
    if state and state[1] > 0 and count >= 5 and length[p[1]](p, state) == count then
      if count ~= p[2] then resize(k, p.fresh) end
      return state
    end
  end
  if is_missing(k, p.fresh) then return { unpack_numbers(formats(p[2]), p.fresh) } end
end

-- By number of the key. A foreign key has no state.
local states, policy_of, held, held_bytes, changed, is_fresh = {}, {}, {}, {}, {}, {}
for k, number in ipairs(cjson.decode(ARGV[2])) do
  local p, bytes = policies[number], raw[k]
  policy_of[k] = p
  states[k] = read_state(k, p)
  if states[k] and bytes and not is_log[p[1]] then
    local expires_at, moves = expiry[p[1]](p, states[k])
    held[k], held_bytes[k] = not moves and expires_at or nil, #bytes
  end
end
`

const WRITE_CHANGED = `
for k in pairs(changed) do
  local key, state, p, held_until = keys[k], states[k], policy_of[k], held[k]
  if refused then break end
  if is_fresh[k] then
    local reply = try('DEL', key)
    refused = type(reply) == 'table' and reply.err or nil
  else
    local count = length[p[1]] and length[p[1]](p, state) or p[2]
    while least[p[1]] and state[count] == 0 do count = count - 1 end
    local bytes = pack_numbers(formats(count), unpack(state, 1, count))
    local expires_at = expiry[p[1]](p, state)
    if #bytes ~= held_bytes[k] then held_until = nil end
    ${WRITE}
  end
end
`

const DECIDE = `
local function decide(charge)
  local after, touched, wanted, denied = {}, {}, {}, {} -- by number of the key
  for i = 1, #charge, 2 do
    local k, cost = charge[i], charge[i + 1]
    if not states[k] then return end
    local p = policy_of[k]
    after[k] = after[k] or { unpack(states[k]) }
    local allowed, is_changed = take[p[1]](p, after[k], cost)
    local sum = (wanted[k] or 0) + cost -- what the charge wants of the key so far
    if allowed then wanted[k] = sum else denied[k] = denied[k] or sum end
    if is_changed then touched[k] = true end
  end
  if not next(denied) then
    for k in pairs(touched) do states[k], changed[k], is_fresh[k] = after[k], true, false end
  end
  -- A ban counts the denial, once per key; a state from a clock ahead is clamped.
  for k, sum in pairs(denied) do
    local p = policy_of[k]
    local _, is_changed = take[p[1]](p, states[k], sum)
    if is_changed then changed[k], is_fresh[k] = true, false end
  end
end
`

export const chargeScript = once(() =>
  script(
    `  Decides charges in order, each all or nothing.${POLICIES_HEAD}
  ARGV[3]  JSON: for each charge a flat list of its parts, each key, cost (units).`,
    `${POLICIES}${DECIDE}
for _, charge in ipairs(cjson.decode(ARGV[3])) do decide(charge) end
${WRITE_CHANGED}`,
  ),
)

/** Defines what each operation does to a state of each kind of policy, which it clamps first. */
const OPERATIONS = `
${functions('left', '', 'left, changed', ({ clamp, left }) => left && clamp + left)}
${functions(
  'reward',
  ', cost',
  'changed, is_fresh',
  ({ clamp, reward }) =>
    reward && `${clamp} local is_clamped = changed ${reward} changed = is_clamped or changed`,
)}
${functions('block', ', ban', 'changed', ({ clamp, block }) => block && clamp + block)}
${functions('renew', ', cost, taken_at, reset_at', 'changed', ({ clamp, renew }) => renew && clamp + renew)}
-- Each returns whether the state changed, and whether it is fresh.
local apply = {
  refund = function(p, state, cost, taken_at, reset_at)
    if cost > 0 then return refund[p[1]](p, state, cost, taken_at, reset_at) end
  end,
  renew = function(p, state, cost, taken_at, reset_at)
    if cost > 0 then renew[p[1]](p, state, cost, taken_at, reset_at) end
    return cost > 0, false
  end,
  take = function(p, state, units)
    if units == 0 then return false, false end
    local units_left, is_clamped = left[p[1]](p, state)
    local _, is_changed = take[p[1]](p, state, min(units, units_left), true)
    return is_clamped or is_changed, false
  end,
  reward = function(p, state, units)
    if units > 0 then return reward[p[1]](p, state, units) end
  end,
  block = function(p, state, ban)
    block[p[1]](p, state, ban)
    return true, false
  end,
}
`

export const operationScript = once(() =>
  script(
    `  Applies operations in order. Missing keys have a fresh state.${POLICIES_HEAD}
  ARGV[3]  JSON: a list of operations. A charge is a flat list of its parts, each key, cost (units). The others
           are of one key, and begin with their name and key. 'refund' and 'renew' add cost (units), when it was
           taken (ms), and, where it is known, when time alone would have given the units back (ms); 'take' and
           'reward' units, 'block' for how long (ms), 'forget' nothing.`,
    `${POLICIES}${DECIDE}${OPERATIONS}
for _, item in ipairs(cjson.decode(ARGV[3])) do
  local name, k = item[1], item[2]
  if type(name) ~= 'string' then
    decide(item)
  elseif name == 'forget' then -- also a foreign key
    states[k], changed[k], is_fresh[k] = {}, true, true
    for i = 1, policy_of[k][2] do states[k][i] = 0 end
  elseif states[k] then
    local p, state = policy_of[k], states[k]
    local is_changed, is_fresh_now = apply[name](p, state, item[3], item[4], item[5])
    if is_changed then changed[k], is_fresh[k] = true, is_fresh_now end
    if is_changed and is_fresh_now then for i = 1, p[2] do state[i] = 0 end end
  end
end
${WRITE_CHANGED}`,
  ),
)
