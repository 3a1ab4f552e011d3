import { type Script, withDigest } from './script.js'

/**
 * Replaces bytes in the result of `run` by hexadecimal digits: 8 bytes become 16 digits. The second item of
 * a list stays as it is, because it is the text of an error.
 */
const ENCODE = `
local function digits_of(bytes)
  local digits = {}
  for i = 1, #bytes, 8 do
    digits[#digits + 1] = string.format('%08x%08x', struct.unpack('>I4I4', bytes, i))
  end
  return table.concat(digits)
end
local reply = run()
if type(reply) == 'string' then return digits_of(reply) end
for i, item in ipairs(reply) do
  if item and i ~= 2 then reply[i] = digits_of(item) end
end
return reply
`

/** Returns the script that replies with text instead of bytes. It begins with `header`. */
export function textScript({ text }: Script, header = ''): Script {
  return withDigest(`${header}local function run()\n${text}\nend${ENCODE}`)
}
