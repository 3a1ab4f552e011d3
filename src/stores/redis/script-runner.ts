import { groupBy } from '../../util/group-by.js'
import { weakMemo } from '../../util/memo.js'
import { retry } from '../../util/retry.js'
import { firstKeyOf, type Operation, type Outcome } from '../operation.js'
import { itemsAt, type Run, type RunGroup, runGroups, type SettleIndex } from '../shared/run-operations.js'
import { asStoreError } from '../store-error.js'
import { commandError, isCrossSlot, isMoving, isSplit, isUnknownScript } from './errors.js'
import { areOfOneShape, groupsOf } from './groups.js'
import { timeAlone } from './reply.js'
import { type ShapeCall, shapeCall } from './shape.js'
import type { Command, Transport } from './transport.js'

/** How often a call is sent while its keys are moving to another node: for a tenth of a second at most. */
const MAX_ATTEMPTS = 8

/** A call for operations of one shape. */
interface GroupCall {
  readonly shard: number
  readonly operations: readonly Operation[]
  readonly call: ShapeCall
}

/**
 * Returns the digests of the scripts that were loaded on a connection. Stores that share a client share
 * them. Commands on a connection keep their order, so the server knows a script in every command after its
 * loading.
 */
const digestsOn = weakMemo((_connection: object) => new Set<string>())

/**
 * Creates a function that applies a batch: it makes a call for each group of operations of one shape, and sends
 * all calls at once. Commands for one server keep their order. A call that fails leaves the others alone.
 *
 * A server that has lost its scripts, as after `SCRIPT FLUSH`, rejects a call by digest. The call is sent
 * again with its text, but later calls of the batch have run by then. So a call that shares a key with a
 * later one is sent with its text in the first place.
 *
 * It makes calls for each slot, so each operation must have all its keys in one. With `runBySlot`, it assumes
 * that the server has no slots. If the server rejects a call, unrun, because its keys are in several slots,
 * `runBySlot` gets the operations.
 */
export function scriptRunner(transport: Transport, runBySlot?: Run): Run {
  const { slotOf, serverOf, send, connectionTo } = transport

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
      return atMs === undefined ? call.outcomesFrom(reply) : await outcomesAt(atMs, group)
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
    const call = shapeCall(group.operations, atMs)
    const pendingReply = send([commandFor(call, group.shard)])[0]
    return call.outcomesFrom(await pendingReply?.catch((error) => sendAgain({ ...group, call }, error)))
  }

  /** Sends a call again that was certainly not run, as the reply says. Throws any other error. */
  function sendAgain({ shard, operations, call }: GroupCall, error: unknown): Promise<unknown> {
    const sendText = async () => send([commandFor(call, shard, 'eval')])[0]
    if (isUnknownScript(error)) return sendText()
    if (!isMoving(error) || operations.length > 1) throw error
    return retry(sendText, { isTemporary: isMoving, maxAttempts: MAX_ATTEMPTS })
  }

  /** Returns the commands of a call. The last one gets its reply. One before that may load its script. */
  function commandsFor({ shard, call }: GroupCall): readonly Command[] {
    const command = commandFor(call, shard)
    if (call.script === undefined) return [command]
    const { text, sha1 } = call.script
    const digests = digestsOn(connectionTo(shard))
    if (digests.has(sha1)) return [command]
    digests.add(sha1)
    const words: Command['words'] = ['script', 'load', text]
    return [{ shard, words, firstKey: 0, keyCount: 0 }, command]
  }

  /**
   * Sends the calls of a batch with several shapes or slots. Returns the groups, which await the replies.
   */
  function sendGroups(batch: readonly Operation[]): readonly RunGroup[] {
    const commands: Command[] = []
    const groups: RunGroup[] = []
    let replies: readonly Promise<unknown>[] = []
    for (const [shard, slotIndexes] of indexesBySlot(batch))
      for (const { indexes: places, isFollowed } of groupsOf(itemsAt(batch, slotIndexes))) {
        const indexes = itemsAt(slotIndexes, places)
        const operations = itemsAt(batch, indexes)
        try {
          const group = { shard, operations, call: shapeCall(operations) }
          commands.push(...(isFollowed ? [commandFor(group.call, shard, 'eval')] : commandsFor(group)))
          const place = commands.length - 1
          groups.push({ indexes, run: (_, settleOne) => outcomesOf(group, replies[place], settleOne) })
        } catch (cause) {
          groups.push({ indexes, run: () => failAll(operations, cause) })
        }
      }
    if (commands.length > 0) replies = sendAll(commands)
    return groups
  }

  /**
   * Sends commands. Ignores rejections: each call handles that of its own reply, and nothing reads the reply
   * of a command that loads a script.
   */
  function sendAll(commands: readonly Command[]): readonly Promise<unknown>[] {
    const replies = send(commands)
    if (replies.length > 1) for (const reply of replies) reply.catch(() => undefined)
    return replies
  }

  function run(batch: readonly Operation[], settle?: SettleIndex): Promise<readonly Outcome[]> {
    if (runBySlot === undefined || !areOfOneShape(batch)) return runGroups(batch, sendGroups(batch), settle)
    let group: GroupCall
    try {
      group = { shard: 0, operations: batch, call: shapeCall(batch) }
    } catch (cause) {
      return failAll(batch, cause)
    }
    const replies = sendAll(commandsFor(group))
    return outcomesOf(group, replies[replies.length - 1], settle)
  }

  function indexesBySlot(batch: readonly Operation[]): Iterable<readonly [number, readonly number[]]> {
    if (runBySlot !== undefined) return [[0, Array.from(batch.keys())]]
    return groupBy(batch.keys(), (i) => slotOf(firstKeyOf(batch[i])))
  }

  return run
}

/** Resolves with an error for each operation, because their policies have no script. */
async function failAll(operations: readonly Operation[], cause: unknown): Promise<readonly Outcome[]> {
  const error = asStoreError('redis', cause)
  return operations.map(() => error)
}

/** Returns the command of a call: by its script's digest, or by its text. */
function commandFor(
  { script, keys, args }: ShapeCall,
  shard: number,
  by: 'evalsha' | 'eval' = 'evalsha',
): Command {
  if (script === undefined) return { shard, words: ['unlink', ...keys], firstKey: 1, keyCount: keys.length }
  const id = by === 'eval' ? script.text : script.sha1
  const words: Command['words'] = [by, id, String(keys.length), ...keys, ...args]
  return { shard, words, firstKey: 3, keyCount: keys.length }
}
