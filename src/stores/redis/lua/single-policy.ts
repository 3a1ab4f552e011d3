import type { FlatSpec } from '../../../policies/spec.js'
import type { LuaPolicy } from './lua-policy.js'
import { LUA_POLICIES } from './policies.js'
import { MAX_BYTES, REPLY_TIME, type Script, script, WRITE } from './prelude.js'

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
  const { once, clamp, take, expiry, least, outdated, isLog = false } = LUA_POLICIES[kind]
  const params = Array.from({ length }, (_, i) => `ARGV[${i + 2}] + 0.0`).join(', ')
  const numbers = Array.from({ length: width }, (_, i) => `state[${i + 1}]`).join(', ')
  // Where all places in the state are fixed, locals in place of a table take a tenth less time.
  const isFixed = !isLog && !/state\[\D/.test(clamp + take + expiry)
  const { find, read, pack } = codecOf(LUA_POLICIES[kind], width, numbers)
  const body = `
local p = { '${kind}', ${width}, ${params} }${outdated ? `\nif ${outdated} then ${REPLY_TIME} end` : ''}
local costs = ARGV[1] ~= '' and cjson.decode(ARGV[1])
local one = { 1, 1 }
local fresh = '${'\\0'.repeat(8 * width)}'
local format = formats(${width})
${least === undefined ? '' : trimming(least, width)}local may_owe = false
${isFixed ? '' : 'local state = {}'}
${once}

for k = 1, #keys do
  local key, bytes = keys[k], raw[k]
  ${find}
  if is_read or is_missing(k, fresh) then
    ${isFixed ? 'local ' : ''}${read}
    local held_until
    ${isLog ? '' : holding(expiry)}
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
      local expires_at, moves
      ${expiry}
      ${pack}
      if #bytes ~= held_bytes then held_until = nil end
      ${WRITE}
    end
  end
end
`
  return isFixed ? body.replaceAll(/state\[(\d+)\]/g, 'number_$1') : body
}

/** Finds out when the key currently expires. */
function holding(expiry: string): string {
  return `if bytes then
      local expires_at, moves
      ${expiry}
      if not moves then held_until = expires_at end
    end`
}

/** Returns code that checks whether an item is a state (`is_read`), reads its numbers, and packs them. */
function codecOf({ least, length, isLog }: LuaPolicy, width: number, numbers: string) {
  const pack = least === undefined ? `bytes = pack_numbers(format, ${numbers})` : trimmed(width)
  const read = `${numbers} = unpack_numbers(format, raw[k])`
  if (length === undefined) return { find: padded(least ?? width, width), read, pack }
  if (!isLog)
    return {
      find: otherLength(length, width),
      read: `if other then state = other else ${read} end`,
      pack,
    }
  return {
    find: anyLength(length, width),
    read: 'state = log or { unpack_numbers(format, fresh) }',
    pack: `local count = ${length}
      bytes = pack_numbers(formats(count), unpack(state, 1, count))`,
  }
}

/** Reads a state that may be stored without its trailing zeros. */
function padded(least: number, width: number): string {
  const full = 8 * width
  if (least === width) return `local held_bytes = bytes and #bytes\n  local is_read = held_bytes == ${full}`
  return `local held_bytes = bytes and #bytes
  local pad = pads[held_bytes]
  local is_read = pad or held_bytes == ${full}
  if pad then raw[k] = bytes .. pad end`
}

/** What a state lacks that is stored without its trailing zeros, by how many bytes are stored. */
function padsOf(least: number, width: number): string {
  const lengths = Array.from({ length: width - least }, (_, i) => least + i)
  return lengths.map((count) => `[${8 * count}] = '${'\\0'.repeat(8 * (width - count))}'`).join(', ')
}

/** Reads a state that may have more or fewer numbers than its policy's. */
function otherLength(length: string, width: number): string {
  return `local held_bytes, other = bytes and #bytes, nil
  local is_read = held_bytes == ${8 * width}
  if bytes and not is_read and held_bytes % 8 == 0 and held_bytes > 40 and held_bytes <= ${MAX_BYTES} then
    local state = { unpack_numbers(formats(held_bytes / 8), bytes) }
    if ${length} == held_bytes / 8 then
      is_read, other = true, state
      resize(k, fresh)
    end
  end`
}

/** Reads a log, which has as many numbers as its own limit says. */
function anyLength(length: string, width: number): string {
  return `local held_bytes, log = bytes and #bytes, nil
  if bytes and held_bytes % 8 == 0 and held_bytes >= 40 and held_bytes <= ${MAX_BYTES} then
    local state = { unpack_numbers(formats(held_bytes / 8), bytes) }
    if state[1] > 0 and ${length} == held_bytes / 8 then log = state end
    if log and held_bytes ~= ${8 * width} then resize(k, fresh) end
  end
  local is_read = log ~= nil`
}

/** Packs a state without its trailing zeros. */
function trimmed(width: number): string {
  const counts = Array.from({ length: width - 1 }, (_, i) => `state[${width - i}] ~= 0 and ${width - i} or `)
  const numbers = Array.from({ length: width }, (_, i) => `state[${i + 1}]`).join(', ')
  return `bytes = pack_numbers(stored_formats[${counts.join('')}1], ${numbers})`
}

/** Sets what a script needs to read and write states without their trailing zeros. */
function trimming(least: number, width: number): string {
  const formats = Array.from({ length: width }, (_, i) => `'<${'d'.repeat(i + 1)}'`)
  return `local pads = { ${padsOf(least, width)} }
local stored_formats = { ${formats.join(', ')} }
`
}
