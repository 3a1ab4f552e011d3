import type { KindName } from '../../policies/spec.js'
import { indexIn } from '../../util/group-by.js'
import { keysOf, type Operation } from '../operation.js'
import { chargeScript } from './lua/charge-script.js'
import { LUA_KINDS } from './lua/kinds.js'
import { operationScript, type ScriptedType } from './lua/operation-script.js'
import type { Script } from './lua/script.js'
import { scriptPolicy } from './script-policy.js'
import type { Command } from './transport.js'

/**
 * What is sent to Redis for operations of one shape, which name the same policies in the same order:
 *
 * | operations | command | its words |
 * |---|---|---|
 * | charges | `EVALSHA` of the script for the kinds of their parts | each key once, the places of the operations' keys if any repeats, the numbers of the policies, and the costs unless all are 1 |
 * | takes, rewards, blocks, refunds, renewals | `EVALSHA` of the script for the type and the kind | the same keys, the numbers of the policy, and those of each operation |
 * | forgets | `UNLINK` | the keys |
 *
 * The folder lua has the scripts.
 */
export interface ScriptCall {
  readonly operations: readonly Operation[]
  /** The slot of all keys. Absent if the server is assumed to have no slots. */
  readonly slot: number | undefined
  /** Absent for `UNLINK`. */
  readonly script: Script | undefined
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

/** Returns the call for operations of one shape. A quota has its periods around `atMs`, by default now. */
export function scriptCall(operations: readonly Operation[], slot?: number, atMs?: number): ScriptCall {
  const [first] = operations
  const named: string[] = []
  let haveCosts = first?.type !== 'charge'
  for (const operation of operations) {
    if (operation.type !== 'charge') named.push(operation.key)
    else
      for (const { key, cost } of operation.parts) {
        named.push(key)
        if (cost !== 1) haveCosts = true
      }
  }
  if (first === undefined || first.type === 'forget')
    return { operations, slot, script: undefined, keys: named, args: [] }
  const { keys, places } = named.length === 1 ? { keys: named, places: '' } : distinctKeys(named)
  const args = [places]
  const kinds: KindName[] = []
  for (const { policy } of keysOf(first)) {
    const { kind, params } = scriptPolicy(policy, atMs)
    kinds.push(kind)
    for (const param of params) args.push(param)
  }
  if (haveCosts) for (const operation of operations) args.push(...argsOf(operation))
  return { operations, slot, script: scriptFor(first.type, kinds), keys, args }
}

/** Returns the command of a call: by its script's digest, or by its text. */
export function commandFor(
  { slot = 0, script, keys, args }: ScriptCall,
  by: 'evalsha' | 'eval' = 'evalsha',
): Command {
  if (script === undefined)
    return { shard: slot, words: ['unlink', ...keys], firstKey: 1, keyCount: keys.length }
  const id = by === 'eval' ? script.text : script.sha1
  const words: Command['words'] = [by, id, String(keys.length), ...keys, ...args]
  return { shard: slot, words, firstKey: 3, keyCount: keys.length }
}

/**
 * Returns each key once. If any repeats, also returns the places of the named keys among these, as ARGV has them.
 * node-redis writes 16 KiB in one turn of the event loop, so a burst for a few popular keys takes fewer turns.
 */
function distinctKeys(named: readonly string[]) {
  if (new Set(named).size === named.length) return { keys: named, places: '' }
  const indexes = new Map<string, number>()
  let places = ''
  for (const key of named) {
    const index = indexIn(indexes, key)
    places += String.fromCharCode(DIGIT_0 + (index >> 6), DIGIT_0 + (index & 63))
  }
  return { keys: [...indexes.keys()], places }
}

/** The character that stands for the digit 0 of a place. */
const DIGIT_0 = 48

const scripts = new Map<string, Script>()

function scriptFor(type: ScriptedType | 'charge', kindNames: readonly KindName[]): Script {
  const name = `${type} ${kindNames}`
  let script = scripts.get(name)
  if (script === undefined) {
    const kinds = kindNames.map((kind) => LUA_KINDS[kind])
    const [kind] = kinds
    script = type === 'charge' || kind === undefined ? chargeScript(kinds) : operationScript(type, kind)
    scripts.set(name, script)
  }
  return script
}

/** What every version of Lua reads as an infinite number. */
const INFINITE = '1e999'

/** Returns the numbers of an operation, as ARGV has them. */
function argsOf(operation: Operation): readonly string[] {
  switch (operation.type) {
    case 'charge':
      return operation.parts.map(({ cost }) => String(cost))
    case 'take':
    case 'reward':
      return [String(operation.units)]
    case 'block':
      return [String(operation.forMs)]
    case 'forget':
      return []
    default: {
      const { cost, takenAtMs, resetAtMs } = operation
      // No time is infinite here, and a known one is not, since a bucket reads them in different ways.
      const resetAt =
        resetAtMs === undefined ? INFINITE : String(Math.min(resetAtMs, Number.MAX_SAFE_INTEGER))
      return [String(cost), String(takenAtMs), resetAt]
    }
  }
}
