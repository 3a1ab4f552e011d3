import type { Policy } from '../../policies/policy.js'
import type { KindName } from '../../policies/spec.js'
import { indexIn } from '../../util/group-by.js'
import { weakMemo } from '../../util/memo.js'
import { type Forget, keyCount, keysOf, type Operation, onlyPartOf, type Part } from '../operation.js'
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
  const named: string[] = new Array(first === undefined ? 0 : operations.length * keyCount(first))
  let haveArgs = first?.type !== 'charge'
  let count = 0
  for (const operation of operations) {
    if (operation.type !== 'charge') named[count++] = operation.key
    else
      for (const { key, cost } of operation.parts) {
        named[count++] = key
        if (cost !== 1) haveArgs = true
      }
  }
  if (first === undefined || first.type === 'forget')
    return { operations, slot, script: undefined, keys: named, args: [] }
  const { keys, places } = count === 1 ? { keys: named, places: '' } : distinctKeys(named)
  const { script, params } = shapeOf(first, atMs)
  if (!haveArgs && places === '') return { operations, slot, script, keys, args: params }
  const args = [places, ...params.slice(1)]
  if (haveArgs) for (const operation of operations) args.push(...argsOf(operation))
  return { operations, slot, script, keys, args }
}

/** Returns the command of a call: by its script's digest, or by its text. */
export function commandFor(
  { slot = 0, script, keys, args }: ScriptCall,
  by: 'evalsha' | 'eval' = 'evalsha',
): Command {
  if (script === undefined)
    return { shard: slot, words: ['unlink', ...keys], firstKey: 1, keyCount: keys.length }
  const id = by === 'eval' ? script.text : script.sha1
  const words = [by, id, String(keys.length)].concat(keys, args) as unknown as Command['words']
  return { shard: slot, words, firstKey: 3, keyCount: keys.length }
}

/**
 * Returns each key once. If any repeats, also returns the place of each named key among them, as ARGV has it.
 * node-redis writes 16 KiB in one turn of the event loop, so a burst for popular keys takes fewer turns.
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

/** The script for a shape, and the start of its ARGV: '' for no places, and the numbers of its policies. */
interface Shape {
  readonly script: Script
  readonly params: readonly string[]
}

function shapeOf(operation: Exclude<Operation, Forget>, atMs: number | undefined): Shape {
  const only = onlyPartOf(operation)?.policy
  if (only !== undefined && only.periodAt === undefined) return shapeOfCharge(only)
  return makeShape(operation.type, keysOf(operation), atMs)
}

/** The shape of charges of one policy, which is the usual one. */
const shapeOfCharge = weakMemo((policy: Policy) => makeShape('charge', [{ policy }]))

function makeShape(
  type: ScriptedType | 'charge',
  parts: readonly Pick<Part, 'policy'>[],
  atMs?: number,
): Shape {
  const policies = parts.map(({ policy }) => scriptPolicy(policy, atMs))
  const kinds = policies.map(({ kind }) => kind)
  return { script: scriptFor(type, kinds), params: ['', ...policies.flatMap(({ params }) => params)] }
}

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
      // A missing time is infinite here. A known one must not be, since a bucket reads the two differently.
      const resetAt =
        resetAtMs === undefined ? INFINITE : String(Math.min(resetAtMs, Number.MAX_SAFE_INTEGER))
      return [String(cost), String(takenAtMs), resetAt]
    }
  }
}
