import { createHash } from 'node:crypto'

/** A Lua script and its hash, which `EVALSHA` takes. */
export interface Script {
  readonly text: string
  readonly sha1: string
}

/** The part of the opening comment that all scripts share. */
const COMMON_HEAD = `  KEYS     the distinct keys, at most some thousands, or none. Keys and policies are numbered from 1.
  Returns  a string of little-endian doubles, as states are stored: the server's time (ms since the Unix
           epoch), then the states as they were read, in the order of KEYS, zeros for a missing one. With a
           foreign key, a refused write, or a state of another length than its policy's, a list: that string;
           why the server refused to write, or ''; the numbers of foreign keys; and for each state of another
           length, with zeros in its place, the number of its key and its own numbers, as a string. If the
           periods of a quota do not reach to the server's time, a list of that time alone.
  A foreign key is one of another type, or of a length that no state of its policy has. It is left alone,
  and so is every item that names it. A server that takes no writes (out of memory, a replica) refuses the
  first one, so nothing has changed then; what needs no write, such as a denial, is still decided.
  If the periods of a quota do not reach to the server's time, nothing is applied.`

/**
 * Redis runs Lua 5.1, and Dragonfly Lua 5.4, which has integers beside floats: JSON, `tonumber` and `floor`
 * may return either. Integers wrap around, so a product needs a float: scripts make the params of policies
 * floats. `/` always returns a float, and as an index or in a state both are the same.
 */
const BEGIN = `
local floor, ceil, max, min, huge = math.floor, math.ceil, math.max, math.min, math.huge
local call, try, unpack_numbers, pack_numbers = redis.call, redis.pcall, struct.unpack, struct.pack
local unpack = table.unpack or unpack
local time = call('TIME')
local now = (time[1] * 1000000 + time[2]) / 1000 -- the same double as in JavaScript
local keys = KEYS
local raw = #keys > 0 and call('MGET', unpack(keys)) or {} -- false for a missing key or one of another type
local foreign = {} -- numbers of foreign keys
local refused -- why the server refused to write

-- Returns the format of this many numbers.
local format_of = {}
local function formats(count)
  format_of[count] = format_of[count] or '<' .. string.rep('d', count)
  return format_of[count]
end

-- Appends a state of another length than its policy's to the reply, and puts a fresh one in its place.
local resized = {}
local function resize(k, fresh)
  resized[#resized + 1] = pack_numbers('<d', k) .. raw[k]
  raw[k] = fresh
end

-- Puts a fresh state in place of an item that is not a state. Returns whether the key is missing.
local function is_missing(k, fresh)
  local is_foreign = raw[k] or call('EXISTS', keys[k]) > 0
  if is_foreign then foreign[#foreign + 1] = k end
  raw[k] = fresh
  return not is_foreign
end
`

/** The most bytes that are unpacked as a state. A log of 1,000 units with a ban has almost as many. */
export const MAX_BYTES = 4096

/**
 * Writes the bytes of a state to `key`, to expire at `expires_at`. `held_until` is the key's present expiry,
 * nil for a missing key. Where the expiry stays, SETRANGE overwrites the bytes in place and returns their
 * number, which spares Redis a new value. Milliseconds have too many digits for the %d of a 32-bit Redis.
 */
export const WRITE = `
    if expires_at == held_until then
      local reply = try('SETRANGE', key, '0', bytes)
      if reply ~= #bytes then refused = reply.err end
    elseif expires_at == huge then
      refused = try('SET', key, bytes).err
    else
      expires_at = ceil(expires_at)
      local ms = expires_at % 1000
      local at = string.format('%d%03d', (expires_at - ms) / 1000, ms)
      refused = try('SET', key, bytes, 'PXAT', at).err
    end`

const END = `
local reply = pack_numbers('<d', now) .. table.concat(raw)
if #foreign == 0 and #resized == 0 and not refused then return reply end
for _, state in ipairs(resized) do foreign[#foreign + 1] = state end
return { reply, refused or '', unpack(foreign) }
`

/** Ends a script that applies nothing. */
export const REPLY_TIME = "return { pack_numbers('<d', now) }"

/** Creates a script. `head` says what it does with which ARGV. */
export function script(head: string, body: string): Script {
  const text = `--[[\n${head}\n${COMMON_HEAD}\n]]\n${BEGIN}${body}${END}`
  return { text, sha1: createHash('sha1').update(text).digest('hex') }
}
