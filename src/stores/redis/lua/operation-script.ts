import type { LuaKind } from './lua-kind.js'
import { change, readNumbers, readPart, type Script, scriptOf, write } from './script.js'

/** Keeps when a key expires. If it never does, but its state now does, it expires by the policy's numbers. */
const KEEP_EXPIRY = `
    if held < huge then expires_at = held end`

/** How an operation other than a charge changes the state of a key. */
interface LuaOperation {
  /** Its numbers in ARGV. An unknown `reset_at` is infinite. */
  readonly args: readonly string[]
  /** Whether it changes only a state that exists. */
  readonly isOfExisting?: true
  /** Whether the key's expiry stays: it is by the numbers of the policy that charged. */
  readonly keepsExpiry?: true
  /** Sets `changed` and, if the state then equals a fresh one, `is_fresh`. */
  changeBy(kind: LuaKind): string | undefined
}

const OPERATIONS = {
  take: {
    args: ['cost'],
    changeBy: ({ clamp, owe = '', left, take }) =>
      left &&
      `if cost == 0 then return end
    ${owe}
    local allowed, left = false, 0
    ${clamp}
    do ${left} end
    cost = min(cost, left)
    if cost > 0 then
      ${take}
      changed = true
    end`,
  },
  reward: {
    args: ['cost'],
    isOfExisting: true,
    changeBy: ({ clamp, reward }) => reward && `if cost == 0 then return end ${clamp} ${reward}`,
  },
  refund: {
    args: ['cost', 'taken_at', 'reset_at'],
    isOfExisting: true,
    keepsExpiry: true,
    changeBy: ({ refund }) => `if cost == 0 then return end ${refund}`,
  },
  renew: {
    args: ['cost', 'taken_at', 'reset_at'],
    changeBy: ({ clamp, renew }) => renew && `if cost == 0 then return end ${clamp} ${renew}`,
  },
  block: {
    args: ['cost'],
    changeBy: ({ clamp, block }) => block && clamp + block,
  },
} satisfies Readonly<Record<string, LuaOperation>>

/** An operation of one key that a script applies. */
export type ScriptedType = keyof typeof OPERATIONS

/** Returns the script for operations of one type, of policies of one kind. */
export function operationScript(type: ScriptedType, kind: LuaKind): Script {
  const { args, isOfExisting, keepsExpiry, changeBy }: LuaOperation = OPERATIONS[type]
  const numbers = args.map((_, i) => `ARGV[p + k * ${args.length} + ${i + 1}] + 0.0`).join(', ')
  return scriptOf(`
do
  local size1 = nil
  ${readNumbers(kind, 1)}
  local function apply(bytes, ${args.join(', ')})
    ${kind.state.unpack}
    local changed, is_fresh, to_write, expires_at = false, false, nil, nil
    ${isOfExisting ? 'if held == 0 then return end' : ''}
    ${changeBy(kind) ?? ''}
    if not changed then return end
    if is_fresh then return '' end
    ${change(keepsExpiry ? { ...kind, expiry: `${kind.expiry}${KEEP_EXPIRY}` } : kind)}
    return to_write, expires_at
  end
  for k = 0, #keys - 1 do ${readPart(kind, 1)}
    if held1 then
      local bytes, expires_at = apply(held1, ${numbers})
      local key = keys[k + 1]
      if bytes then ${write('key', 'bytes', 'expires_at')}
      end
    end
  end
end`)
}
