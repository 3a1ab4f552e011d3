import { groupBy } from '../../util/group-by.js'
import { retry } from '../../util/retry.js'
import { firstKeyOf, type Operation, type Outcome } from '../operation.js'
import { itemsAt, type Run, type RunGroup, runGroups, type SettleIndex } from '../shared/run-operations.js'
import { asStoreError } from '../store-error.js'
import { commandError, isCrossSlot, isMoving, isSplit, isUnknownScript } from './errors.js'
import { groupsOf } from './groups.js'
import { loadedScripts } from './loaded-scripts.js'
import { timeAlone } from './reply.js'
import { type ShapeCall, shapeCall } from './shape.js'
import type { Command, Transport } from './transport.js'

/** How often a call is sent while its keys are moving to another node: for a tenth of a second at most. */
const MAX_ATTEMPTS = 8

/** A call for some operations of a batch, which have one shape. */
interface GroupCall {
  readonly shard: number
  /** The indexes of the operations in the batch. */
  readonly indexes: readonly number[]
  readonly operations: readonly Operation[]
  readonly call: ShapeCall
}

/**
 * Creates a function that applies a batch: it makes a call for each group of operations of one shape, and sends
 * all calls at once. Commands for one server keep their order. A call that fails leaves the others alone.
 *
 * It makes calls for each slot, so each operation must have all its keys in one. With `runBySlot`, it assumes
 * that the server has no slots. If the server rejects a call, unrun, because its keys are in several slots,
 * `runBySlot` gets the operations.
 */
export function scriptRunner(transport: Transport, runBySlot?: Run): Run {
  const { slotOf, serverOf, send } = transport
  const wasLoaded = loadedScripts(transport)

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

  async function run(batch: readonly Operation[], settle?: SettleIndex): Promise<readonly Outcome[]> {
    const commands: Command[] = []
    const calls: (GroupCall & { readonly place: number })[] = []
    const failed: RunGroup[] = []

    function add(shard: number, indexes: readonly number[]): void {
      const operations = indexes.length === batch.length ? batch : itemsAt(batch, indexes)
      try {
        const call = shapeCall(operations)
        if (call.script && !wasLoaded(call.script, shard)) {
          const words: Command['words'] = ['script', 'load', call.script.text]
          commands.push({ shard, words, firstKey: 0, keyCount: 0 })
        }
        calls.push({ shard, indexes, operations, call, place: commands.push(commandFor(call, shard)) - 1 })
      } catch (cause) {
        const error = asStoreError('redis', cause) // the policies have no script
        failed.push({ indexes, run: async () => operations.map(() => error) })
      }
    }

    if (runBySlot) for (const group of groupsOf(batch)) add(0, group)
    else
      for (const [slot, indexes] of indexesBySlot(batch))
        for (const group of groupsOf(itemsAt(batch, indexes))) add(slot, itemsAt(indexes, group))
    const replies = commands.length === 0 ? [] : send(commands)
    for (const reply of replies) reply.catch(() => undefined) // that of a call is read below
    const [first] = calls
    if (first?.operations === batch) return outcomesOf(first, replies[first.place], settle)
    const groups = calls.map((group): RunGroup => {
      return {
        indexes: group.indexes,
        run: (_, settleOne) => outcomesOf(group, replies[group.place], settleOne),
      }
    })
    return runGroups(batch, [...groups, ...failed], settle)
  }

  function indexesBySlot(batch: readonly Operation[]): Iterable<readonly [number, readonly number[]]> {
    return groupBy(batch.keys(), (i) => slotOf(firstKeyOf(batch[i])))
  }

  return run
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
