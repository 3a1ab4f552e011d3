import { sha1 } from '../../../platform.js'
import type { LuaKind } from './lua-kind.js'

/** A Lua script and its hash, which `EVALSHA` takes. */
export interface Script {
  readonly text: string
  readonly sha1: string
}

/*
 * What the scripts of the store have in common: charge-script.ts has those for charges, and operation-script.ts
 * those for other operations. Comments stay here, since each server gets the text.
 *
 * KEYS     The keys of the first operation, then those of the next one, each key once.
 * ARGV[1]  '' if no key repeats. Otherwise, the places in KEYS of the keys of the first operation, then those of
 *          the next one, from 0 on: two digits of base 64 each, whose characters start at '0'.
 * ARGV[2…] The numbers of each policy: its `params` (units, ms), those of a quota with the starts of five
 *          periods (ms). Then those of a ban: see `banOf`.
 * ARGV[…]  The numbers of each operation. Of a charge: the cost of each part (units), or nothing if every cost
 *          is 1. Of the others, see `args` in operation-script.ts.
 * Returns  A string of little-endian doubles. For each key of each operation, it has what was stored when the
 *          operation began: when the key expires (ms), and then the state; all 0 for a missing key. Last, it
 *          has the server's time (ms since the Unix epoch).
 *          A list in place of the string if states differ in length, a key is foreign, or the server refused to
 *          write: the time, why it refused or '', and what was stored for each of these keys, nil for a foreign
 *          one.
 *          If the periods of a quota do not reach to the server's time, a list of that time alone.
 *
 * A foreign key is one of another type, or of a length that no state of its policy has. It is left alone, and
 * so is every operation that names it. A server that takes no writes (out of memory, a replica) refuses the
 * first one, so nothing has changed then. What needs no write, such as a denial, is still decided.
 *
 * Redis runs Lua 5.1, and Dragonfly Lua 5.4, which has integers beside floats: numbers from ARGV become floats.
 */

/**
 * Reads the clock and the keys. If keys repeat, `again` marks the places of those that do. Changed keys are
 * then written once, at the end: `latest` has the bytes that the operations so far have left, and `moved`
 * the new expiry of each key that has one.
 *
 * Lua makes each function of a script anew in every call, so code that is used once is not a function.
 */
const BEGIN = `
local floor, ceil, max, min, huge = math.floor, math.ceil, math.max, math.min, math.huge
local call, try, unpack_numbers, pack_numbers = redis.call, redis.pcall, struct.unpack, struct.pack
local unpack = table.unpack or unpack
local time = call('TIME')
local now = (time[1] * 1000000 + time[2]) / 1000
local keys, repeats = KEYS, ARGV[1] ~= ''
local again = nil
local stored = #keys > 0 and call('MGET', unpack(keys)) or {}
if repeats then
  local found, digits = stored, { string.byte(ARGV[1], 1, -1) }
  local first = {}
  keys, stored, again = {}, {}, {}
  for i = 1, #digits / 2 do
    local place = digits[2 * i - 1] * 64 + digits[2 * i] - 3119
    keys[i], stored[i] = KEYS[place], found[place]
    if first[place] then again[i], again[first[place]] = true, true
    else first[place] = i end
  end
end
local refused, is_list = false, false
local p = 1
local latest, moved = repeats and {}, repeats and {}
`

/**
 * Writes bytes now. If `expires_at` is nil, the key keeps its expiry, and the bytes are overwritten in
 * place, so that Redis need not allocate a new value. If the bytes are '', the key is deleted.
 */
const writeNow = (key: string, bytes: string, expiresAt: string) => `
    local reply
    if ${bytes} == '' then
      reply = try('DEL', ${key})
    elseif ${expiresAt} == nil then
      reply = try('SETRANGE', ${key}, '0', ${bytes})
    elseif ${expiresAt} == huge then
      reply = try('SET', ${key}, ${bytes})
    else
      reply = try('SET', ${key}, ${bytes}, 'PXAT', string.format('%d', ceil(${expiresAt})))
    end
    if type(reply) == 'table' and reply.err then refused = reply.err end`

/** Writes bytes to a key as `writeNow` does: now or, if keys repeat, at the end. */
export const write = (key: string, bytes: string, expiresAt: string) => `
  if latest then
    latest[${key}], moved[${key}] = ${bytes}, ${expiresAt} or moved[${key}]
  elseif not refused then ${writeNow(key, bytes, expiresAt)}
  end`

const END = `
if repeats then
  for key, bytes in pairs(latest) do
    local expires_at = moved[key]
    if not refused then ${writeNow('key', 'bytes', 'expires_at')}
    end
  end
end
if not refused and not is_list then
  stored[#keys + 1] = pack_numbers('<d', now)
  return table.concat(stored)
end
local reply = { pack_numbers('<d', now), refused or '' }
local unchanged = refused and repeats and call('MGET', unpack(keys)) or stored
for i = 1, #keys do reply[i + 2] = stored[i] and (unchanged[i] or '') end
return reply
`

/**
 * Reads the numbers of a policy, which come next in ARGV. Sets `size<n>`, the size of the states of part n,
 * and the locals that the pieces of the kind read.
 */
export function readNumbers({ params, once, state, outdated }: LuaKind, n: number): string {
  const names = Object.values(params)
  return `local ${names.join(', ')} = ${names.map((_, i) => `ARGV[p + ${i + 1}] + 0.0`).join(', ')}
  p = p + ${names.length}
  ${once}
  ${outdated ? `if ${outdated} then return { pack_numbers('<d', now) } end` : ''}
  ${state.once}
  size${n} = ${state.size}
  ${state.isState ? 'is_list = true' : ''}`
}

/**
 * The latest time at which a key expires, in some 285,000 years. A key that would expire later never
 * expires. A server rejects a write with a time beyond 64 bits, and the script then writes nothing more.
 * Such times occur: after a change to a far slower rate, units take longer than that to return, and bytes
 * that are not a state can be any number.
 */
const LATEST_EXPIRY_MS = `${2 ** 53}.0`

/** Sets `expires_at` to the key's expiry after a change, and prepares the state to be packed. */
const findExpiry = ({ state, expiry }: Pick<LuaKind, 'state' | 'expiry'>) => `${expiry}
    if not (expires_at > 0 and expires_at <= ${LATEST_EXPIRY_MS}) then expires_at = huge end
    ${state.seal}`

/**
 * Sets `to_write` to the bytes after a change, and `expires_at` to the key's new expiry, or nil if it stays.
 */
export const change = (kind: Pick<LuaKind, 'state' | 'expiry'>) => `${findExpiry(kind)}
    to_write = ${kind.state.pack}
    ${kind.state.isState ? '' : 'if expires_at == held then expires_at = nil end'}`

/**
 * Writes the change of the only part of a charge, whose key is at `place`. Usually the key keeps its expiry.
 * Then only the changed bytes after the expiry are written.
 */
export function writeChange(kind: LuaKind, place: string): string {
  const { packChanged, pack } = kind.state
  const writeAll = `
      local key, to_write = keys[${place}], ${pack}
      ${write('key', 'to_write', 'expires_at')}`
  if (packChanged === undefined) return findExpiry(kind) + writeAll
  return `${findExpiry(kind)}
    if expires_at ~= held or refused or again and again[${place}] then ${writeAll}
    else
      local reply = try('SETRANGE', keys[${place}], '8', ${packChanged})
      if reply ~= size1 then refused = reply.err end
    end`
}

/**
 * Sets `held<n>` to the bytes that a key has before the operation. They are those of a fresh state for a
 * missing key, and `false` for a foreign one.
 */
export const readPart = ({ state }: LuaKind, n: number, place = `k + ${n}`) => `
  local held${n} = stored[${place}]
  if not held${n} or #held${n} ~= size${n} or again and again[${place}] then
    local key, bytes = keys[${place}], held${n}
    local left = latest and latest[key]
    if left then bytes = left end
    if not bytes and call('EXISTS', key) == 0 or left == '' then
      bytes = string.rep('\\0', max(size${n}, -size${n}))
    elseif not bytes or not (${state.isState ?? `#bytes == size${n}`}) then
      is_list, bytes = true, false
    end
    held${n}, stored[${place}] = bytes, bytes
  end`

/** Returns the script with this body between `BEGIN` and `END`. */
export const scriptOf = (body: string): Script => withDigest(BEGIN + body + END)

export function withDigest(text: string): Script {
  return { text, sha1: sha1(text) }
}
