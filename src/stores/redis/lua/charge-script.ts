import type { LuaKind } from './lua-kind.js'
import { change, readNumbers, readPart, type Script, scriptOf, write, writeChange } from './script.js'

/**
 * Takes `cost` units from `bytes`. Sets `allowed`, and `to_write` to the bytes that replace `bytes`, or to
 * nil if nothing changes. An allowed part writes them only if the whole charge is allowed. A denied part
 * always does.
 */
const take = (kind: LuaKind) => `
    local allowed, changed, to_write, expires_at = true, false, nil, nil
    if cost > 0 then
      ${kind.state.unpack}
      ${kind.clamp}
      ${kind.take}
      if allowed or changed then
        ${change(kind)}
      end
    end`

/** Returns the script for charges of one shape: the kinds of their parts, in order. */
export function chargeScript(kinds: readonly LuaKind[]): Script {
  const [kind, ...others] = kinds
  if (kind === undefined) return scriptOf('') // only the time
  return scriptOf(others.length === 0 ? chargePart(kind) : chargeParts(kinds))
}

/** Takes the only part of each charge, without a Lua function: a call would take as long as all the rest. */
const chargePart = (kind: LuaKind) => `
do
  local size1 = nil
  ${readNumbers(kind, 1)}
  local has_costs = #ARGV > p
  for k = 1, #keys do ${readPart(kind, 1, 'k')}
    local bytes, cost = held1, has_costs and ARGV[p + k] + 0.0 or 1
    if bytes and cost > 0 then
      local allowed, changed = true, false
      ${kind.state.unpack}
      ${kind.clamp}
      ${kind.take}
      if allowed or changed then
        local expires_at = nil
        ${writeChange(kind, 'k')}
      end
    end
  end
end`

/** Takes a part. Of a key that an earlier part names, it takes what that one has left. */
const decidePart = (n: number) => `
    local cost${n} = has_costs and ARGV[p + k + ${n}] + 0.0 or 1
    local allowed${n}, bytes${n}, expires${n} = take${n}(after and after[keys[k + ${n}]] or held${n}, cost${n})
    if after and allowed${n} and bytes${n} then after[keys[k + ${n}]] = bytes${n} end`

const writePart = (n: number) => `
      if bytes${n} then write(keys[k + ${n}], bytes${n}, expires${n}) end`

/** Writes what a denial changes, by what the charge wanted of the key up to this part. */
const denyPart = (n: number) => `
      if allowed${n} then
        if repeats then wanted[keys[k + ${n}]] = (wanted[keys[k + ${n}]] or 0) + cost${n} end
      else
        if repeats then
          allowed${n}, bytes${n}, expires${n} = take${n}(held${n}, cost${n} + (wanted[keys[k + ${n}]] or 0))
        end
        if bytes${n} then write(keys[k + ${n}], bytes${n}, expires${n}) end
      end`

const defineTake = (kind: LuaKind, n: number) => `
local size${n}, take${n} = nil, nil
do
  ${readNumbers(kind, n)}
  take${n} = function(bytes, cost) ${take(kind)}
    return allowed, to_write, expires_at
  end
end`

function chargeParts(kinds: readonly LuaKind[]): string {
  const each = (pieceOf: (n: number) => string) => kinds.map((_, i) => pieceOf(i + 1)).join('')
  const all = (name: string) => kinds.map((_, i) => `${name}${i + 1}`).join(' and ')
  const inPlace = kinds.length > MAX_LOCAL_PARTS ? inTables : (text: string) => text
  return inPlace(`
local function write(key, bytes, expires_at) ${write('key', 'bytes', 'expires_at')}
end
${kinds.map((kind, i) => defineTake(kind, i + 1)).join('')}
local has_costs = #ARGV > p
for k = 0, #keys - 1, ${kinds.length} do
  ${kinds.map((kind, i) => readPart(kind, i + 1)).join('')}
  if ${all('held')} then
    local after = repeats and {}
    ${each(decidePart)}
    if ${all('allowed')} then ${each(writePart)}
    else
      local wanted = {}
      ${each(denyPart)}
    end
  end
end`)
}

/** How many parts have their own locals. Lua has room for 200 locals. */
const MAX_LOCAL_PARTS = 20

/** Returns the code of many parts with tables in place of the locals of each: `cost[7]` for `cost7`. */
function inTables(code: string): string {
  const names = ['size', 'take', 'held', 'cost', 'allowed', 'bytes', 'expires']
  const local = new RegExp(`\\blocal ((${names.join('|')})\\d)`, 'g')
  const name = new RegExp(`\\b(${names.join('|')})(\\d+)\\b`, 'g')
  const tables = names.map((each) => `${each}_of`).join(', ')
  return `local ${tables} = ${names.map(() => '{}').join(', ')}${code.replace(local, '$1').replace(name, '$1_of[$2]')}`
}
