import type { Policy } from '../../policies/policy.js'
import type { KindName } from '../../policies/spec.js'
import { indexIn } from '../../util/group-by.js'
import { weakMemo } from '../../util/memo.js'
import { type Forget, keysOf, type Operation } from '../operation.js'
import { chargeScript } from './lua/charge-script.js'
import { LUA_KINDS } from './lua/kinds.js'
import { operationScript, type ScriptedType } from './lua/operation-script.js'
import type { Script } from './lua/script.js'
import { scriptPolicy } from './script-policy.js'
import type { Command, Transport } from './transport.js'

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
  /** The store's name in errors. */
  readonly store: string
  readonly operations: readonly Operation[]
  /** The slot of all keys. Absent if the server is assumed to have no slots. */
  readonly slot: number | undefined
  /** Absent for `UNLINK`. */
  readonly script: Script | undefined
  /** The policies that each operation names, in order. Empty for `UNLINK`. */
  readonly policies: readonly Policy[]
  /** The command to send. It names the script by its digest. */
  readonly command: Command
}

/** The store that makes a call. */
export interface CallOrigin {
  /** The store's name in errors. */
  readonly name: string
  readonly transport: Transport
}

/** Returns the call for operations of one shape. A quota has its periods around `atMs`, by default now. */
export function scriptCall(
  { name, transport: { textReplies } }: CallOrigin,
  operations: readonly Operation[],
  slot?: number,
  atMs?: number,
): ScriptCall {
  const [first] = operations
  const namedKeys: string[] = []
  let hasArgs = first?.type !== 'charge'
  for (const operation of operations) {
    if (operation.type !== 'charge') namedKeys.push(operation.key)
    else
      for (const { key, cost } of operation.parts) {
        namedKeys.push(key)
        if (cost !== 1) hasArgs = true
      }
  }
  if (first === undefined || first.type === 'forget') return unlinkCall(name, operations, slot, namedKeys)
  const { keys, places } = namedKeys.length === 1 ? { keys: namedKeys, places: '' } : distinctKeys(namedKeys)
  const only = first.type === 'charge' && first.parts.length === 1 ? first.parts[0]?.policy : undefined
  const isUsual = only !== undefined && only.periodAt === undefined
  const { script: ofShape, params, policies } = isUsual ? shapeOfCharge(only) : makeShape(first, atMs)
  const script = textReplies === undefined ? ofShape : textReplies.scriptFor(ofShape)
  let args = params
  if (hasArgs || places !== '') args = [places, ...params.slice(1)]
  if (hasArgs) args = args.concat(operations.flatMap(argsOf))
  const words = ['evalsha', script.sha1, String(keys.length)].concat(keys, args)
  const command = {
    shard: slot ?? 0,
    words: words as unknown as Command['words'],
    firstKey: 3,
    keyCount: keys.length,
  }
  return { store: name, operations, slot, script, policies, command }
}

function unlinkCall(
  store: string,
  operations: readonly Operation[],
  slot: number | undefined,
  keys: readonly string[],
): ScriptCall {
  const command = {
    shard: slot ?? 0,
    words: ['unlink', ...keys] as const,
    firstKey: 1,
    keyCount: keys.length,
  }
  return { store, operations, slot, script: undefined, policies: [], command }
}

/** Returns the command of a call with the text of its script instead of the digest. */
export function withText({ script, command }: ScriptCall): Command {
  if (script === undefined) return command
  return { ...command, words: ['eval', script.text, ...command.words.slice(2)] }
}

/**
 * Returns each key once. If any repeats, also returns the place of each named key among them, as ARGV has
 * it. node-redis writes 16 KiB in one turn of the event loop, so a burst for popular keys takes fewer turns.
 */
function distinctKeys(namedKeys: readonly string[]) {
  if (new Set(namedKeys).size === namedKeys.length) return { keys: namedKeys, places: '' }
  const indexes = new Map<string, number>()
  let places = ''
  for (const key of namedKeys) {
    const index = indexIn(indexes, key)
    places += String.fromCharCode(DIGIT_0 + (index >> 6), DIGIT_0 + (index & 63))
  }
  return { keys: [...indexes.keys()], places }
}

/** The character that stands for the digit 0 of a place. */
const DIGIT_0 = 48

/** What the calls of a shape have in common. */
interface Shape {
  readonly script: Script
  /** The start of ARGV: '' for no places, and the numbers of the policies. */
  readonly params: readonly string[]
  readonly policies: readonly Policy[]
}

/** The shape of charges of one policy, which is the usual one. */
const shapeOfCharge = weakMemo((policy: Policy) =>
  makeShape({ type: 'charge', parts: [{ key: '', policy, cost: 1 }] }),
)

function makeShape(operation: Exclude<Operation, Forget>, atMs?: number): Shape {
  const policies = keysOf(operation).map(({ policy }) => policy)
  const scripted = policies.map((policy) => scriptPolicy(policy, atMs))
  const kinds = scripted.map(({ kind }) => kind)
  const params = ['', ...scripted.flatMap((each) => each.params)]
  return { script: scriptFor(operation.type, kinds), params, policies }
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
