--[[
A server that runs Redis scripts in the Lua that runs this file, as Dragonfly does in Lua 5.4. Each line of the
input is a request and each line of the output its reply, both as words; a text is $ and its bytes in
hexadecimal.

  script <sha1> <text>                        keeps a script
  run <now in microseconds> <sha1> <keys> [key...] [argument...]
  call <now in microseconds> <command> [argument...]
]]
local now_us = 0 -- the server's time
local held = {} -- by key: its bytes, and when they expire (ms)

local function from_hex(digits)
  return (digits:sub(2):gsub('..', function(pair) return string.char(tonumber(pair, 16)) end))
end

local function to_hex(bytes)
  return '$' .. bytes:gsub('.', function(char) return string.format('%02x', char:byte()) end)
end

local function bytes_of(key)
  local item = held[key]
  if item and item.expires_at and item.expires_at * 1000 <= now_us then held[key] = nil end
  return held[key] and held[key].bytes
end

--[[ Commands, each with the place of its last key. What they take and return are strings and integers. ]]
local commands = {
  TIME = { 0, function() return { tostring(now_us // 1000000), tostring(now_us % 1000000) } end },
  MGET = { -1, function(...)
    local values = {}
    for i, key in ipairs({ ... }) do values[i] = bytes_of(key) or false end
    return values
  end },
  EXISTS = { 1, function(key) return bytes_of(key) and 1 or 0 end },
  PEXPIRETIME = { 1, function(key) return bytes_of(key) and (held[key].expires_at or -1) or -2 end },
  DEL = { -1, function(...)
    local count = 0
    for _, key in ipairs({ ... }) do
      count = count + (bytes_of(key) and 1 or 0)
      held[key] = nil
    end
    return count
  end },
  SET = { 1, function(key, bytes, option, time)
    assert(option == nil or option == 'PXAT' and time:find('^%d+$'), 'ERR syntax error')
    assert(option == nil or math.type(tonumber(time)) == 'integer', 'ERR value is not an integer or out of range')
    held[key] = { bytes = bytes, expires_at = option and tonumber(time) }
    return { ok = 'OK' }
  end },
  SETRANGE = { 1, function(key, offset, bytes)
    local before = bytes_of(key)
    local stop = tonumber(offset) + #bytes
    assert(stop <= #before, 'ERR a value is not extended here')
    held[key].bytes = before:sub(1, tonumber(offset)) .. bytes .. before:sub(stop + 1)
    return #before
  end },
}

local declared -- the keys of the script that runs

local function call(name, ...)
  local last_key, run = table.unpack(commands[name] or error('ERR unknown command ' .. name))
  for i, word in ipairs({ ... }) do
    assert(type(word) == 'string', 'ERR an argument is no string')
    assert(last_key >= 0 and i > last_key or declared[word], 'script tried accessing undeclared key')
  end
  return run(...)
end

local function try(...)
  local is_done, reply = pcall(call, ...)
  return is_done and reply or { err = reply }
end

--[[ What scripts find. As in the real servers, nothing else is there, and nothing can be added. ]]
local globals = {
  ipairs = ipairs, next = next, pairs = pairs, tonumber = tonumber, tostring = tostring, type = type,
  math = math, string = string, table = table,
  redis = { call = call, pcall = try },
  struct = { pack = string.pack, unpack = string.unpack },
}
local strict = setmetatable({}, {
  __index = function(_, name) return globals[name] or error('nonexistent global variable ' .. name) end,
  __newindex = function(_, name) error('attempt to create the global variable ' .. name) end,
})

local scripts = {}

local requests = {}

function requests.script(sha1, text)
  scripts[sha1] = assert(load(from_hex(text), 'script', 't', strict))
  return ''
end

function requests.run(time, sha1, key_count, ...)
  now_us = math.tointeger(tonumber(time))
  local words = { ... }
  for i, word in ipairs(words) do words[i] = from_hex(word) end
  globals.KEYS = table.move(words, 1, key_count, 1, {})
  globals.ARGV = table.move(words, key_count + 1, #words, 1, {})
  declared = {}
  for _, key in ipairs(globals.KEYS) do declared[key] = true end
  return scripts[sha1]()
end

function requests.call(time, name, ...)
  now_us = math.tointeger(tonumber(time))
  local words = { ... }
  for i, word in ipairs(words) do words[i] = from_hex(word) end
  declared = setmetatable({}, { __index = function() return true end })
  return call(name, table.unpack(words))
end

--[[ Returns a reply as a word: integers as they are, nothing as '-'. As Redis does, cuts off fractions. ]]
local function encode(reply)
  if type(reply) == 'string' then return to_hex(reply) end
  if type(reply) == 'number' then return string.format('%d', reply // 1) end
  return '-'
end

for line in io.lines() do
  local words = {}
  for word in line:gmatch('[^ ]+') do words[#words + 1] = word end
  local is_done, reply = pcall(requests[words[1]], table.unpack(words, 2))
  if not is_done then io.write('error ', to_hex(tostring(reply)))
  elseif type(reply) == 'table' then
    io.write('list')
    for _, each in ipairs(reply) do io.write(' ', encode(each)) end
  else io.write('one ', encode(reply)) end
  io.write('\n')
  io.flush()
end
