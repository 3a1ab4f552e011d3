import { acrossShards } from '../../pipe/shards.js'
import { groupBy } from '../../util/group-by.js'
import { retry } from '../../util/retry.js'
import { firstKeyOf, type Operation, type Outcome } from '../operation.js'
import { itemsAt, type RunGroup, runGroups, type SettleIndex } from '../shared/run-operations.js'
import { asStoreError } from '../store-error.js'
import { commandError, isCrossSlot, isMoving, isSplit, isUnknownScript } from './errors.js'
import { areOfOneShape, groupsOf } from './groups.js'
import { outcomesIn, timeAlone } from './reply.js'
import { type ScriptCall, scriptCall, withText } from './script-call.js'
import { recordProbe, recordSlots, type Servers } from './servers.js'
import type { Command } from './transport.js'

/** How often a call is sent while its keys are moving to another node: for a tenth of a second at most. */
const MAX_ATTEMPTS = 8

type Outcomes = Promise<readonly Outcome[]>

/**
 * Applies a batch: makes a call for each group of operations of one shape, and sends all calls at once.
 * Commands for one server keep their order. A call that fails leaves the others alone.
 *
 * A server that has lost its scripts, as after `SCRIPT FLUSH`, rejects a call by digest. The call is sent
 * again with its text, but later calls of the batch have run by then. So a call that shares a key with a
 * later one is sent with its text in the first place.
 */
export function runBatch(servers: Servers, batch: readonly Operation[], settle?: SettleIndex): Outcomes {
  if (servers.hasSlots) return runBySlot(servers, batch, settle)
  let outcomes: Outcomes
  if (batch.length > 1 && !areOfOneShape(batch)) {
    const groups = sendGroups(servers, batch, [[undefined, Array.from(batch.keys())]])
    outcomes = runGroups(batch, groups, settle)
  } else {
    let call: ScriptCall
    try {
      call = scriptCall(servers, batch)
    } catch (cause) {
      return failAll(servers, batch, cause)
    }
    const replies = servers.transport.send(commandsFor(servers, call))
    if (replies.length > 1) ignoreRejections(replies)
    outcomes = outcomesOf(servers, call, replies[replies.length - 1], settle)
  }
  return batch.length === 1 || servers.isProbed ? outcomes : recordProbeAfter(servers, outcomes)
}

/** Returns outcomes. Records a probe once they are known. */
async function recordProbeAfter(servers: Servers, outcomes: Outcomes): Outcomes {
  await outcomes
  recordProbe(servers)
  return outcomes
}

/** Applies a batch slot by slot. A charge of several slots is decided by `acrossShards`. */
function runBySlot(servers: Servers, batch: readonly Operation[], settle?: SettleIndex): Outcomes {
  const { transport, batching } = servers
  servers.runBySlot ??= acrossShards(
    transport.slotOf,
    (operations, settleOne) => runInSlots(servers, operations, settleOne),
    batching,
  )
  return servers.runBySlot(batch, settle)
}

/** Applies operations that each have all their keys in one slot. */
function runInSlots(servers: Servers, batch: readonly Operation[], settle?: SettleIndex): Outcomes {
  const bySlot = groupBy(batch.keys(), (i) => servers.transport.slotOf(firstKeyOf(batch[i])))
  return runGroups(batch, sendGroups(servers, batch, bySlot), settle)
}

/** Sends the calls of a batch with several shapes or slots. Returns the groups, which await the replies. */
function sendGroups(
  servers: Servers,
  batch: readonly Operation[],
  indexesBySlot: Iterable<readonly [slot: number | undefined, indexes: readonly number[]]>,
): readonly RunGroup[] {
  const commands: Command[] = []
  const groups: RunGroup[] = []
  let replies: readonly Promise<unknown>[] = []
  for (const [slot, slotIndexes] of indexesBySlot)
    for (const { indexes: places, isFollowed } of groupsOf(itemsAt(batch, slotIndexes))) {
      const indexes = itemsAt(slotIndexes, places)
      const operations = itemsAt(batch, indexes)
      try {
        const call = scriptCall(servers, operations, slot)
        commands.push(...(isFollowed ? [withText(call)] : commandsFor(servers, call)))
        const place = commands.length - 1
        groups.push({ indexes, run: (_, settleOne) => outcomesOf(servers, call, replies[place], settleOne) })
      } catch (cause) {
        groups.push({ indexes, run: () => failAll(servers, operations, cause) })
      }
    }
  if (commands.length > 0) replies = servers.transport.send(commands)
  ignoreRejections(replies)
  return groups
}

/** Returns the commands of a call: one that loads its script, if needed, and then the one with its reply. */
function commandsFor({ transport }: Servers, call: ScriptCall): readonly Command[] {
  const { script, command } = call
  if (script === undefined) return [command]
  const { text, sha1 } = script
  const { shard } = command
  const digests = transport.scriptsOn?.(shard)
  if (digests === undefined || digests.has(sha1)) return [command]
  digests.add(sha1)
  return [{ shard, words: ['script', 'load', text], firstKey: 0, keyCount: 0 }, command]
}

/** Each call handles the rejection of its own reply. Nothing reads the reply to the loading of a script. */
function ignoreRejections(replies: readonly Promise<unknown>[]): void {
  for (const reply of replies) reply.catch(() => undefined)
}

/** Resolves with the outcomes of a call, by the reply to it. */
async function outcomesOf(
  servers: Servers,
  call: ScriptCall,
  pendingReply: Promise<unknown> | undefined,
  settle?: SettleIndex,
): Outcomes {
  try {
    let reply: unknown
    try {
      reply = await pendingReply
    } catch (error) {
      reply = await replyAgain(servers, call, error)
    }
    reply = bytesIn(servers, reply)
    const atMs = Array.isArray(reply) ? timeAlone(reply) : undefined
    return atMs === undefined ? outcomesIn(reply, call) : await outcomesAt(servers, call, atMs)
  } catch (cause) {
    return recover(servers, call, cause, settle)
  }
}

/** Sends a call again because its periods did not reach the server's time, `atMs`. */
async function outcomesAt(servers: Servers, { operations, slot }: ScriptCall, atMs: number): Outcomes {
  const { transport } = servers
  const call = scriptCall(servers, operations, slot, atMs)
  const [pendingReply] = transport.send([call.command])
  const reply = await pendingReply?.catch((error) => replyAgain(servers, call, error))
  return outcomesIn(bytesIn(servers, reply), call)
}

function bytesIn({ transport: { textReplies } }: Servers, reply: unknown): unknown {
  return textReplies === undefined ? reply : textReplies.bytesIn(reply)
}

/** Sends a call again if its error says that it was certainly not run. Throws any other error. */
function replyAgain({ transport }: Servers, call: ScriptCall, error: unknown): Promise<unknown> {
  const sendText = async () => transport.send([withText(call)])[0]
  if (isUnknownScript(error)) return sendText()
  if (!isMoving(error) || call.operations.length > 1) throw error
  return retry(sendText, { isTemporary: isMoving, maxAttempts: MAX_ATTEMPTS })
}

/** Resolves with the outcomes of a failed call. Sends its operations again if it was certainly not run. */
function recover(servers: Servers, call: ScriptCall, cause: unknown, settle?: SettleIndex): Outcomes {
  const { operations, slot } = call
  if (slot === undefined && isCrossSlot(cause)) {
    recordSlots(servers)
    return runBySlot(servers, operations, settle)
  }
  if (operations.length > 1 && isSplit(cause)) {
    const run = slot === undefined ? runBatch : runInSlots
    // All are sent at once, so operations that share keys keep their order.
    const runOne: RunGroup['run'] = (one, settleOne) => run(servers, one, settleOne)
    const alone = operations.map((_, i): RunGroup => ({ indexes: [i], run: runOne }))
    return runGroups(operations, alone, settle)
  }
  const server = servers.transport.serverOf?.(slot ?? 0)
  return failAll(servers, operations, commandError(servers.name, cause, server, servers.hintOf))
}

/** Resolves with an error for each operation. */
async function failAll({ name }: Servers, operations: readonly Operation[], cause: unknown): Outcomes {
  const error = asStoreError(name, cause)
  return operations.map(() => error)
}
