import { createHash } from 'node:crypto'
import { LUA_MATH } from './policies.js'

/** A Lua script and its hash, which `EVALSHA` takes. */
export interface Script {
  readonly text: string
  readonly sha1: string
}

export function script(...pieces: readonly string[]): Script {
  const text = pieces.join('\n')
  return { text, sha1: createHash('sha1').update(text).digest('hex') }
}

/** The part of the opening comment that all scripts share. */
export const COMMON_HEAD = `  KEYS     the distinct keys, at most some thousands, or none. Keys and policies are numbered from 1.
  Returns  a string of little-endian doubles, as states are stored: the server's time (ms since the Unix epoch), then
           the states as they were read, in the order of KEYS, zeros for a missing one. With a foreign key or a refused
           write, a list: that string; why the server refused to write, or ''; the numbers of foreign keys.
  A foreign key is one of another type, or of a length that no state of its policy has. It is left alone, and so is
  every item that names it. A server that takes no writes (out of memory, a replica) refuses the first one, so nothing
  has changed then; what needs no write, such as a denial, is still decided.
]]`

/** Reads the time and all states. */
export const BEGIN = `${LUA_MATH}
local call, try, unpack_numbers, pack_numbers = redis.call, redis.pcall, struct.unpack, struct.pack
local time = call('TIME')
local now = (time[1] * 1000000 + time[2]) / 1000 -- the same double as in JavaScript
local keys = KEYS
local raw = #keys > 0 and call('MGET', unpack(keys)) or {} -- false for a missing key or one of another type
local foreign -- numbers of foreign keys
local refused -- why the server refused to write
`

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
      refused = try('SET', key, bytes, 'PXAT', string.format('%d%03d', expires_at / 1000, expires_at % 1000)).err
    end`

export const END = `
local reply = pack_numbers('<d', now) .. table.concat(raw)
if foreign or refused then return { reply, refused or '', unpack(foreign or {}) } end
return reply
`
