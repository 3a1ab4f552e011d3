import { isSamePolicy, type Policy, signatureOf } from '../../policies/policy.js'
import { groupBy } from '../../util/group-by.js'
import { retry } from '../../util/retry.js'
import { firstKeyOf, keysOf, type Operation, type Outcome, onlyPartOf } from '../operation.js'
import { itemsAt, type Run, type RunGroup, runGroups, type SettleIndex } from '../shared/run-operations.js'
import { decodeState } from '../shared/state-codec.js'
import { asStoreError, StoreError } from '../store-error.js'
import { commandError, isCrossSlot, isMoving, isSplit, isUnknownScript } from './errors.js'
import { multiPolicyCall } from './multi-policy-call.js'
import { encodePolicy } from './policy-codec.js'
import { type Reading, type ScriptCall, timeAlone } from './script-call.js'
import { sentScripts } from './sent-scripts.js'
import { singlePolicyCall } from './single-policy-call.js'
import type { Command, Transport } from './transport.js'

/** How often a call is sent while its keys are moving to another node: for a tenth of a second at most. */
const MAX_ATTEMPTS = 8

/** A call for some operations of a batch. */
interface GroupCall {
  readonly shard: number
  /** The indexes of the operations in the batch. */
  readonly indexes: readonly number[]
  readonly operations: readonly Operation[]
  readonly call: ScriptCall
}

/**
 * Creates a function that runs scripts for operations. It makes one call for each slot, so each operation
 * must have all its keys in one. With `runBySlot`, it assumes that the server has no slots, and makes one
 * call for each group of `splitByPolicy`. If the server rejects a call, unrun, because its keys are in
 * several slots, `runBySlot` gets the operations.
 */
export function scriptRunner({ slotOf, serverOf, send }: Transport, runBySlot?: Run): Run {
  const wasSent = sentScripts(serverOf)

  /** Resolves with the outcomes of a group, by the reply to its call. */
  async function outcomesOf(
    group: GroupCall,
    pendingReply: Promise<unknown> | undefined,
    settle?: SettleIndex,
  ): Promise<readonly Outcome[]> {
    const { shard, operations, call } = group
    try {
      const reply = await pendingReply?.catch((error) => sendAgain(group, error))
      const atMs = timeAlone(reply)
      return atMs === undefined ? readReply(call, reply) : await outcomesAt(atMs, group)
    } catch (cause) {
      if (runBySlot !== undefined && isCrossSlot(cause)) return runBySlot(operations, settle)
      if (operations.length > 1 && isSplit(cause)) {
        // All are sent at once, so operations that share keys keep their order.
        const alone = operations.map((_, i): RunGroup => ({ indexes: [i], run }))
        return runGroups(operations, alone, settle)
      }
      const error = commandError(cause, serverOf?.(shard))
      return operations.map(() => error)
    }
  }

  /** Sends a call again whose periods did not reach to the server's time, which is `atMs`. */
  async function outcomesAt(atMs: number, group: GroupCall): Promise<readonly Outcome[]> {
    const { shard, operations } = group
    const call = callFor(operations, atMs) ?? group.call
    const pendingReply = send([commandFor('evalsha', call.script.sha1, call, shard)])[0]
    return readReply(call, await pendingReply?.catch((error) => sendAgain({ ...group, call }, error)))
  }

  /** Sends a call again that was certainly not run, as the reply says. Throws any other error. */
  function sendAgain({ shard, operations, call }: GroupCall, error: unknown): Promise<unknown> {
    const sendText = async () => send([commandFor('eval', call.script.text, call, shard)])[0]
    if (isUnknownScript(error)) return sendText()
    if (!isMoving(error) || operations.length > 1) throw error
    return retry(sendText, { isTemporary: isMoving, maxAttempts: MAX_ATTEMPTS })
  }

  async function run(batch: readonly Operation[], settle?: SettleIndex): Promise<readonly Outcome[]> {
    const calls: GroupCall[] = []
    const commands: Command[] = []
    const failed: RunGroup[] = []

    /**
     * Adds the call for some operations. Those whose policies have no script fail alone. A call whose order
     * matters sends its script's text: one that the server does not know by its digest would run later.
     */
    function add(shard: number, indexes: readonly number[], isOrdered = false): void {
      const isAll = indexes.length === batch.length
      const operations = isAll ? batch : itemsAt(batch, indexes)
      try {
        const call = callFor(operations)
        if (call === undefined) {
          for (const part of withOnePolicyPerKey(operations)) add(shard, itemsAt(indexes, part), true)
          return
        }
        // Once a server has the text of a script, it knows the digest in the commands that follow.
        const isKnown = wasSent(call.script, shard) && !isOrdered
        const { text, sha1 } = call.script
        commands.push(
          isKnown ? commandFor('evalsha', sha1, call, shard) : commandFor('eval', text, call, shard),
        )
        calls.push({ shard, indexes, operations, call })
      } catch (cause) {
        if (indexes.length === 1) failed.push({ indexes, run: async () => [asStoreError('redis', cause)] })
        else {
          const apart = groupBy(indexes, (i) => (itemsAt(batch, [i]).every(hasScript) ? 'others' : i))
          for (const group of apart.values()) add(shard, group)
        }
      }
    }

    if (runBySlot !== undefined) for (const indexes of splitByPolicy(batch)) add(0, indexes)
    else {
      const bySlot = groupBy(batch.keys(), (i) => slotOf(firstKeyOf(batch[i])))
      for (const [slot, indexes] of bySlot) add(slot, indexes)
    }
    const replies = commands.length === 0 ? [] : send(commands)
    const [first] = calls
    if (first?.operations === batch) return outcomesOf(first, replies[0], settle)
    const groups = calls.map((group, i): RunGroup => {
      return { indexes: group.indexes, run: (_, settleOne) => outcomesOf(group, replies[i], settleOne) }
    })
    return runGroups(batch, [...groups, ...failed], settle)
  }

  return run
}

/** Returns the call for some operations: as `multiPolicyCall` does, or a shorter one. */
function callFor(operations: readonly Operation[], atMs?: number): ScriptCall | undefined {
  return singlePolicyCall(operations, atMs) ?? multiPolicyCall(operations, atMs)
}

/**
 * Groups the indexes of charges of one part by policy, since the script for one policy takes little more
 * than half the time. All other operations, and all that share a key with them, stay together, to be applied
 * in order.
 */
function splitByPolicy(operations: readonly Operation[]): Iterable<readonly number[]> {
  if (operations.length === 1) return [[0]]
  const policy = onlyPartOf(operations[0])?.policy
  if (policy !== undefined && operations.every((operation) => onlyPartOf(operation)?.policy === policy))
    return [operations.map((_, i) => i)]
  const shared = new Set(
    operations.flatMap((operation) => (onlyPartOf(operation) ? [] : keysOf(operation).map(({ key }) => key))),
  )
  const policyByKey = new Map<string, Policy>()
  for (const { key, policy } of operations.flatMap(keysOf)) {
    if (!isSamePolicy(policyByKey.get(key) ?? policy, policy)) shared.add(key)
    policyByKey.set(key, policy)
  }
  const groupOf = (operation: Operation | undefined) => {
    const part = onlyPartOf(operation)
    return part === undefined || shared.has(part.key) ? 'several' : signatureOf(part.policy)
  }
  return groupBy(operations.keys(), (i) => groupOf(operations[i])).values()
}

/** Splits operations, in order, so that each key has one policy in each group. Returns their indexes. */
function withOnePolicyPerKey(operations: readonly Operation[]): readonly (readonly number[])[] {
  const groups: number[][] = [[]]
  let policyByKey = new Map<string, Policy>()
  for (const [i, operation] of operations.entries()) {
    const conflicts = keysOf(operation).some(({ key, policy }) => {
      const other = policyByKey.get(key)
      return other !== undefined && !isSamePolicy(other, policy)
    })
    if (conflicts) {
      groups.push([])
      policyByKey = new Map()
    }
    for (const { key, policy } of keysOf(operation)) policyByKey.set(key, policy)
    groups.at(-1)?.push(i)
  }
  return groups
}

function hasScript(operation: Operation): boolean {
  try {
    for (const { policy } of keysOf(operation)) encodePolicy(policy)
    return true
  } catch {
    return false
  }
}

/** Returns the command of a call: `evalsha` with the script's digest, or `eval` with its text. */
function commandFor(name: string, script: string, { keys, args }: ScriptCall, shard: number): Command {
  const words: Command['words'] = [name, script, String(keys.length), ...keys, ...args]
  return { shard, words, firstKey: 3, keyCount: keys.length }
}

/** Returns the outcomes in the reply to a call. Throws a `StoreError` for a malformed reply. */
function readReply({ widths, outcomesFrom }: ScriptCall, reply: unknown): readonly Outcome[] {
  const [bytes, refused, ...others]: readonly unknown[] = Array.isArray(reply) ? reply : [reply]
  let length = 8
  for (const width of widths) length += 8 * width
  if (!Buffer.isBuffer(bytes) || bytes.length !== length)
    throw new StoreError('redis', 'the script returned a malformed reply', { cause: reply })
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, length)
  const states: Reading['states'] = []
  let at = 8
  for (const width of widths) {
    const state = new Array<number>(width) // a growing array takes several times the memory
    for (let i = 0; i < width; i++, at += 8) state[i] = numbers.getFloat64(at, true)
    states.push(state)
  }
  for (const other of others) {
    const [keyNumber = 0, ...state] = Buffer.isBuffer(other) ? (decodeState(other) ?? []) : []
    if (keyNumber > 0) states[keyNumber - 1] = state
    else states[Number(other) - 1] = undefined // a foreign key
  }
  const message = String(refused ?? '') // an empty buffer, if only `others` have something to say
  const refusal = message ? commandError(new Error(message), undefined) : undefined
  return outcomesFrom({ atMs: numbers.getFloat64(0, true), states, refusal })
}
