import type { Policy } from '../../policies/policy.js'
import { LUA_POLICIES } from './lua-policies.js'
import { BEGIN, END, KEEP, type Script, script } from './scripts.js'

/** By kind and how many numbers there are: only those stand in the text. */
const known = new Map<string, Script>()

/**
 * Charges of one part each, all of one policy: by far the most common batch, so this script does without all that only
 * others need. ARGV[1]: nothing, or, where not every charge takes 1 unit from a key of its own, JSON: for each key its cost, or
 * the list of its costs. ARGV[2] and so on: the policy's params.
 */
export function chargeOnePolicy({ kind, width, params: { length } }: Policy): Script {
  const name = `${kind}:${width}:${length}`
  const made = known.get(name) ?? makeScript(kind, length, width)
  known.set(name, made)
  return made
}

function makeScript(kind: Policy['kind'], length: number, width: number): Script {
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
    if is_changed and not refused then
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
