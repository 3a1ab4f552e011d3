import { createHash } from 'node:crypto'
import type { Policy } from '../../policies/policy.js'
import { LUA_MATH, LUA_POLICIES } from './lua-policies.js'

/** A Lua script, and the hash that Redis knows it by. */
export interface Script {
  readonly text: string
  readonly sha1: string
}

function script(...pieces: readonly string[]): Script {
  const text = pieces.join('\n')
  return { text, sha1: createHash('sha1').update(text).digest('hex') }
}

/*
 * All scripts are called with
 *
 *   KEYS     every key, once, at most some thousands, or none
 *   ARGV     the policies, and what is wanted, as each script tells; keys and policies are named by their places, counted
 *            from 1
 *
 * and reply with a string: the server's time, and the states as they were read, one after the other in the order of KEYS,
 * zeros for a missing one; or where there are foreign keys with a list: that string, and the places of these keys. Numbers
 * are little-endian doubles, 8 bytes each, in replies and at rest; times are milliseconds since the Unix epoch. A key of another
 * type, or with a length that no state of its policy has, is foreign: somebody else's, so it is left alone, and what wants
 * to use it is not done.
 *
 * A Redis that takes no writes (out of memory, a replica) refuses the first one or none, so a call that fails has changed
 * nothing.
 */
const BEGIN = `${LUA_MATH}
local call, unpack_numbers, pack_numbers = redis.call, struct.unpack, struct.pack
local time = call('TIME')
local now = (time[1] * 1000000 + time[2]) / 1000 -- the same double that JavaScript makes of it
local raw = #KEYS > 0 and call('MGET', unpack(KEYS)) or {} -- false for a missing key, and for one of another type
local foreign -- places of foreign keys
`

/*
 * Writes the bytes of a state to key, to expire at expires_at; held_until is the expiry that the key has, nil for a missing one.
 * Expiry is absolute, so that it does not matter how long after TIME it is set. Milliseconds have too many digits for the
 * %d of a 32-bit Redis.
 */
const KEEP = `
    if expires_at == held_until then
      call('SET', key, bytes, 'KEEPTTL')
    elseif expires_at == huge then
      call('SET', key, bytes)
    else
      expires_at = ceil(expires_at)
      call('SET', key, bytes, 'PXAT', string.format('%d%03d', expires_at / 1000, expires_at % 1000))
    end`

const END = `
local reply = pack_numbers('<d', now) .. table.concat(raw)
return foreign and { reply, unpack(foreign) } or reply
`

/**
 * Charges of one part each, all of one policy: by far the most common batch, so this script does without all that only
 * others need. ARGV[1]: nothing, or, where not every charge takes 1 unit from a key of its own, JSON: for each key its cost, or
 * the list of its costs. ARGV[2] and so on: the policy's params.
 */
export function chargeOnePolicy({ kind, params: { length } }: Policy, width: number): Script {
  const { take, expiry } = LUA_POLICIES[kind]
  const params = Array.from({ length }, (_, i) => `tonumber(ARGV[${i + 2}])`).join(', ')
  const numbers = Array.from({ length: width }, (_, i) => `state[${i + 1}]`).join(', ')
  return script(
    BEGIN,
    `
local p = { '${kind}', ${width}, ${params} }
local costs = ARGV[1] ~= '' and cjson.decode(ARGV[1])
local fresh = '${'\\0'.repeat(8 * width)}'
local state = {}

for k = 1, #KEYS do
  local key, bytes = KEYS[k], raw[k]
  if bytes and #bytes ~= ${8 * width} or not bytes and call('EXISTS', key) > 0 then
    foreign = foreign or {}
    foreign[#foreign + 1] = k
    raw[k] = fresh
  else
    local held_until
    if bytes then
      ${numbers} = unpack_numbers('<${'d'.repeat(width)}', bytes)
      local expires_at
      ${expiry}
      held_until = expires_at
    else
      ${numbers} = unpack_numbers('<${'d'.repeat(width)}', fresh)
      raw[k] = fresh
    end
    local own = costs and costs[k] or 1
    local is_list = type(own) == 'table'
    local is_changed = false
    for i = 1, is_list and #own or 1 do
      local cost = is_list and own[i] or own
      local allowed, changed
      ${take}
      is_changed = is_changed or changed
    end
    if is_changed then
      local expires_at
      ${expiry}
      bytes = pack_numbers('<${'d'.repeat(width)}', ${numbers})
      ${KEEP}
    end
  end
end
`,
    END,
  )
}

/* For batches with several policies: ARGV[1] is JSON, a list of them. */
const SEVERAL = `
local take, refund, expiry = {}, {}, {}
${Object.entries(LUA_POLICIES)
  .map(
    ([kind, lua]) => `
take['${kind}'] = function(p, state, now, cost)
  local allowed, changed ${lua.take}
  return allowed, changed
end
refund['${kind}'] = function(p, state, now, cost, taken_at, reset_at)
  local changed, is_fresh ${lua.refund}
  return changed, is_fresh
end
expiry['${kind}'] = function(p, state)
  local expires_at ${lua.expiry}
  return expires_at
end`,
  )
  .join('\n')}

local policies = cjson.decode(ARGV[1])
for _, p in ipairs(policies) do
  p.format = '<' .. string.rep('d', p[2])
  p.fresh = string.rep('\\0', 8 * p[2])
end

-- By place of the key.
local states, policy_of, held, changed, is_fresh = {}, {}, {}, {}, {}

-- The state of a key as it stands now, or nil for a foreign key.
local function state_of(k, p)
  local state = states[k]
  if state ~= nil then return state or nil end
  local bytes = raw[k]
  if bytes and #bytes ~= #p.fresh or not bytes and call('EXISTS', KEYS[k]) > 0 then
    foreign = foreign or {}
    foreign[#foreign + 1] = k
    raw[k], states[k] = p.fresh, false
    return nil
  end
  raw[k] = bytes or p.fresh
  state = { unpack_numbers(p.format, raw[k]) } -- and, after its numbers, where unpacking stopped
  states[k], policy_of[k] = state, p
  if bytes then held[k] = expiry[p[1]](p, state) end
  return state
end
`

const KEEP_CHANGED = `
for k, p in pairs(policy_of) do
  local key, state, held_until = KEYS[k], states[k], held[k]
  if changed[k] and is_fresh[k] then
    call('DEL', key)
  elseif changed[k] then
    local bytes = pack_numbers(p.format, unpack(state, 1, p[2]))
    local expires_at = expiry[p[1]](p, state)
    ${KEEP}
  end
end
`

/**
 * Decides charges in order, each all or nothing. ARGV[1]: JSON, a list of policies, each [kind, how many numbers its state has,
 * params...]. ARGV[2]: JSON, for each charge a flat list of its parts, each key, policy, cost.
 */
export const CHARGE = script(
  BEGIN,
  SEVERAL,
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
  local denied, touched = {}, {}
  for i = 1, #charge, 3 do
    local allowed, is_changed = take_part(charge, i, charge[i + 2])
    if not allowed then denied[#denied + 1] = i end
    if is_changed then touched[charge[i]] = true end
  end
  if #denied > 0 then
    touched = {}
    for k, state in pairs(before) do states[k] = state end
    for _, i in ipairs(denied) do -- more than the limit is never allowed: this only puts right what a clock left behind
      local _, is_changed = take_part(charge, i, policies[charge[i + 1]][3] + 1)
      if is_changed then touched[charge[i]] = true end
    end
  end
  for k in pairs(touched) do changed[k] = true end
end

for _, charge in ipairs(cjson.decode(ARGV[2])) do decide(charge) end
`,
  KEEP_CHANGED,
  END,
)

/**
 * Gives units back. ARGV[1]: as for CHARGE. ARGV[2]: JSON, a list of refunds, each key, policy, cost, when they were taken, and,
 * where it is known, when the key would have been fresh again after that. Foreign keys are left alone; missing ones stay
 * missing.
 */
export const REFUND = script(
  BEGIN,
  SEVERAL,
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
  KEEP_CHANGED,
  END,
)
