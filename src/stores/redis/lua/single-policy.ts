import type { Policy } from '../../../policies/policy.js'
import { LUA_POLICIES } from './policies.js'
import { BEGIN, END, KEEP, type Script, script } from './prelude.js'

/** By kind and how many numbers there are: only those stand in the text. */
const known = new Map<string, Script>()

/**
 * Charges of one part each, all of one policy: by far the most common batch, so this script does without all that only
 * others need. ARGV[1]: nothing, or, where not every charge takes 1 unit from a key of its own, JSON: for each key a flat list of costs in
 * their order, each with how many charges in a row have it. ARGV[2] and so on: the policy's params.
 */
export function chargeOnePolicy({ kind, width, params: { length } }: Policy): Script {
  const name = `${kind}:${width}:${length}`
  const made = known.get(name) ?? makeScript(kind, length, width)
  known.set(name, made)
  return made
}

function makeScript(kind: Policy['kind'], length: number, width: number): Script {
  const { params, numbers, once, clamp, take, expiry } = LUA_POLICIES[kind]
  const values = Array.from({ length }, (_, i) => `tonumber(ARGV[${i + 2}])`).join(', ')
  const isTable = numbers.length === 0
  const state = isTable ? Array.from({ length: width }, (_, i) => `state[${i + 1}]`) : numbers
  const format = `'<${'d'.repeat(width)}'`
  return script(
    BEGIN,
    `
local ${params.length > 0 ? `${params.join(', ')} = ${values}` : `p = { '${kind}', ${width}, ${values} }`}
local costs = ARGV[1] ~= '' and cjson.decode(ARGV[1])
local one = { 1, 1 }
local fresh = '${'\\0'.repeat(8 * width)}'
local ${isTable ? 'state = {}' : state.join(', ')}
${once}

for k = 1, #keys do
  local key, bytes = keys[k], raw[k]
  if bytes and #bytes ~= ${8 * width} or not bytes and call('EXISTS', key) > 0 then
    foreign = foreign or {}
    foreign[#foreign + 1] = k
    raw[k] = fresh
  else
    ${state.join(', ')} = unpack_numbers(${format}, bytes or fresh)
    local held_until
    if bytes then
      local expires_at
      ${expiry}
      held_until = expires_at
    else
      raw[k] = fresh
    end
    local own = costs and costs[k] or one
    local is_changed = false
    for i = 1, #own, 2 do
      local cost = own[i]
      for _ = 1, own[i + 1] do
        local allowed, changed = true, false
        if cost > 0 then
          ${clamp}
          ${take}
        end
        if not changed then break end -- nor will the others of this cost
        is_changed = true
      end
    end
    if is_changed and not refused then
      local expires_at
      ${expiry}
      bytes = pack_numbers(${format}, ${state.join(', ')})
      ${KEEP}
    end
  end
end
`,
    END,
  )
}
