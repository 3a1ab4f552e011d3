import { createHash } from 'node:crypto'
import { LUA_MATH } from './policies.js'

/** A Lua script, and the hash that Redis knows it by. */
export interface Script {
  readonly text: string
  readonly sha1: string
}

export function script(...pieces: readonly string[]): Script {
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
 * zeros for a missing one; or where there is trouble with a list: that string, why the server refused to write or '', and the
 * places of foreign keys. Numbers
 * are little-endian doubles, 8 bytes each, in replies and at rest; times are milliseconds since the Unix epoch. A key of another
 * type, or with a length that no state of its policy has, is foreign: somebody else's, so it is left alone, and what wants
 * to use it is not done.
 *
 * A Redis that takes no writes at all (out of memory, a replica) refuses the first one or none. Then nothing has changed, and what needs
 * no write, such as a denial, is known all the same.
 */
export const BEGIN = `${LUA_MATH}
local call, try, unpack_numbers, pack_numbers = redis.call, redis.pcall, struct.unpack, struct.pack
local time = call('TIME')
local now = (time[1] * 1000000 + time[2]) / 1000 -- the same double that JavaScript makes of it
local keys = KEYS
local raw = #keys > 0 and call('MGET', unpack(keys)) or {} -- false for a missing key, and for one of another type
local foreign -- places of foreign keys
local refused -- why the server refused to write
`

/*
 * Writes the bytes of a state to key, to expire at expires_at; held_until is the expiry that the key has, nil for a missing one. Where that
 * stays, the bytes are put over those that are there (SETRANGE gives their number), which spares Redis a new value.
 * Expiry is absolute, so that it does not matter how long after TIME it is set. Milliseconds have too many digits for the
 * %d of a 32-bit Redis.
 */
export const KEEP = `
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
