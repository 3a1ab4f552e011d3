import type { FlatSpec } from '../../../policies/spec.js'
import { LUA_POLICIES } from './policies.js'
import { type Script, script, WRITE } from './prelude.js'

const HEAD = `  Charges keys of one policy, each charge of one part.
  ARGV[1]  '' where each charge takes 1 unit from its own key. Else JSON: for each key a flat list of its
           costs in order (units), each followed by how many charges in a row have it.
  ARGV[2..] the policy's params (units, ms), in order.`

const scripts = new Map<string, Script>()

/**
 * Returns the script for charges of one part each, all of one policy: by far the most common batch. Its text
 * depends on the policy's kind, and on how many numbers its state and params have.
 */
export function singlePolicyScript(kind: FlatSpec['kind'], width: number, length: number): Script {
  const name = `${kind}:${width}:${length}`
  const policyScript = scripts.get(name) ?? script(HEAD, bodyFor(kind, length, width))
  scripts.set(name, policyScript)
  return policyScript
}

function bodyFor(kind: FlatSpec['kind'], length: number, width: number): string {
  const { once, clamp, take, expiry } = LUA_POLICIES[kind]
  const params = Array.from({ length }, (_, i) => `ARGV[${i + 2}] + 0.0`).join(', ')
  const numbers = Array.from({ length: width }, (_, i) => `state[${i + 1}]`).join(', ')
  const format = `'<${'d'.repeat(width)}'`
  // Where all places in the state are fixed, locals in place of a table take a tenth less time.
  const isFixed = !/state\[\D/.test(clamp + take + expiry)
  const body = `
local p = { '${kind}', ${width}, ${params} }
local costs = ARGV[1] ~= '' and cjson.decode(ARGV[1])
local one = { 1, 1 }
local fresh = '${'\\0'.repeat(8 * width)}'
${isFixed ? '' : 'local state = {}'}
${once}

for k = 1, #keys do
  local key, bytes = keys[k], raw[k]
  if bytes and #bytes == ${8 * width} or is_missing(k, fresh) then
    ${isFixed ? 'local ' : ''}${numbers} = unpack_numbers(${format}, raw[k])
    local held_until
    if bytes then
      local expires_at
      ${expiry}
      held_until = expires_at
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
        if not changed then break end -- so the next ones of this cost change nothing either
        is_changed = true
      end
    end
    if is_changed and not refused then
      local expires_at
      ${expiry}
      bytes = pack_numbers(${format}, ${numbers})
      ${WRITE}
    end
  end
end
`
  return isFixed ? body.replaceAll(/state\[(\d+)\]/g, 'number_$1') : body
}
