import type { KindName } from '../../policies/spec.js'
import { indexIn } from '../../util/group-by.js'
import { keysOf, type Operation, type Outcome } from '../operation.js'
import { FORGOTTEN } from '../shared/apply-batch.js'
import { chargeScript } from './lua/charge-script.js'
import { LUA_KINDS } from './lua/kinds.js'
import { operationScript, type ScriptedType } from './lua/operation-script.js'
import type { Script } from './lua/script.js'
import { outcomesIn } from './reply.js'
import { scriptPolicy } from './script-policy.js'

/**
 * What is sent to Redis for operations of one shape, which name the same policies in the same order:
 *
 * | operations | command | its words |
 * |---|---|---|
 * | charges | `EVALSHA` of the script for the kinds of their parts | each key once, the places of the operations' keys if any repeats, the numbers of the policies, and the costs unless all are 1 |
 * | takes, rewards, blocks, refunds, renewals | `EVALSHA` of the script for the type and the kind | the same keys, the numbers of the policy, and those of each operation |
 * | forgets | `UNLINK` | the keys |
 *
 * The folder lua has the scripts. A reply has the states before the operations, from which the policies in
 * TypeScript compute the outcomes: they decide alike, on the same states at the same time. So a script spends
 * no time on figures.
 */
export interface ShapeCall {
  /** Absent for `UNLINK`. */
  readonly script?: Script
  readonly keys: readonly string[]
  readonly args: readonly string[]
  /** Returns the outcome of each operation. Throws a `StoreError` for a malformed reply. */
  outcomesFrom(reply: unknown): readonly Outcome[]
}

/** Returns the call for operations of one shape. A quota has its periods around `atMs`, by default now. */
export function shapeCall(operations: readonly Operation[], atMs?: number): ShapeCall {
  const [first] = operations
  const named = keysIn(operations)
  if (first === undefined || first.type === 'forget')
    return { keys: named, args: [], outcomesFrom: () => operations.map(() => FORGOTTEN) }
  const { keys, places } = distinctKeys(named)
  const args = [places]
  const kinds: KindName[] = []
  for (const { policy } of keysOf(first)) {
    const { kind, params } = scriptPolicy(policy, atMs)
    kinds.push(kind)
    args.push(...params)
  }
  if (first.type !== 'charge' || haveCosts(operations))
    for (const operation of operations) args.push(...argsOf(operation))
  return {
    script: scriptFor(first.type, kinds),
    keys,
    args,
    outcomesFrom: (reply) => outcomesIn(reply, operations),
  }
}

/** Returns the keys that operations name, in order. */
function keysIn(operations: readonly Operation[]): readonly string[] {
  const keys: string[] = []
  for (const operation of operations)
    if (operation.type === 'charge') for (const { key } of operation.parts) keys.push(key)
    else keys.push(operation.key)
  return keys
}

/**
 * Returns each key once. If any repeats, also returns the places of the named keys among these, as ARGV has them.
 * node-redis writes 16 KiB in one turn of the event loop, so a burst for a few popular keys takes fewer turns.
 */
function distinctKeys(named: readonly string[]) {
  if (named.length === 1 || new Set(named).size === named.length) return { keys: named, places: '' }
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

/** Returns whether a charge has a cost other than 1. */
function haveCosts(operations: readonly Operation[]): boolean {
  for (const operation of operations)
    if (operation.type === 'charge') for (const { cost } of operation.parts) if (cost !== 1) return true
  return false
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
