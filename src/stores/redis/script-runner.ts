import { groupBy } from '../../util/group-by.js'
import { retry } from '../../util/retry.js'
import { keysOf, type Operation, type Outcome } from '../operation.js'
import type { Run } from '../shared/run.js'
import { asStoreError } from '../store-error.js'
import { commandError, isMoving, isSplit, isUnknownScript } from './errors.js'
import { readReply, type ScriptCall } from './script-call.js'
import type { Command, Transport } from './transport.js'

/** How often a call is sent while its keys are moving to another node: for a tenth of a second at most. */
const MAX_ATTEMPTS = 8

/** A call for some operations of a batch. */
interface GroupCall {
  readonly shard: number
  /** The indexes of the operations in the batch. */
  readonly indexes: readonly number[]
  readonly call: ScriptCall
}

/**
 * Creates a function that runs scripts for operations, each of which has all its keys in one shard. It makes
 * one call for each shard of a Cluster, and to a single server one for each group of indexes that `split`
 * returns.
 */
export function scriptRunner(
  { shardOf, serverOf, send }: Transport,
  callFor: (operations: readonly Operation[]) => ScriptCall,
  split: (operations: readonly Operation[]) => Iterable<readonly number[]>,
): Run {
  /** Returns the calls for a batch. An operation whose policy has no script gets an error. */
  function callsFor(operations: readonly Operation[], settle: Parameters<Run>[1]): GroupCall[] {
    const calls: GroupCall[] = []
    const callOf = (indexes: readonly number[]) => callFor(indexes.map((i) => operations[i] as Operation))

    function hasScript(index: number): boolean {
      try {
        callOf([index])
        return true
      } catch (cause) {
        settle(index, asStoreError('redis', cause))
        return false
      }
    }

    function add(shard: number, indexes: readonly number[]): void {
      try {
        calls.push({ shard, indexes, call: callOf(indexes) })
      } catch {
        const others = indexes.filter(hasScript)
        if (others.length > 0) calls.push({ shard, indexes: others, call: callOf(others) })
      }
    }

    if (shardOf === undefined) for (const indexes of split(operations)) add(0, indexes)
    else {
      const firstKey = (i: number) => keysOf(operations[i] as Operation)[0]?.key ?? ''
      const byShard = groupBy(operations.keys(), (i) => shardOf(firstKey(i)))
      for (const [shard, indexes] of byShard) add(shard, indexes)
    }
    return calls
  }

  /** Sends a call again that was certainly not run, as the reply says. Throws any other error. */
  async function runAgain(group: GroupCall, error: unknown): Promise<unknown> {
    if (isUnknownScript(error)) return sendText(group)
    if (!isMoving(error) || group.indexes.length > 1) throw error
    return retry(() => sendText(group), { isTemporary: isMoving, maxAttempts: MAX_ATTEMPTS })
  }

  async function sendText({ shard, call }: GroupCall): Promise<unknown> {
    const [reply] = send([commandFor('eval', call.script.text, call, shard)])
    return reply
  }

  return async function run(operations, settle) {
    const groups = callsFor(operations, settle)
    if (groups.length === 0) return
    const replies = send(
      groups.map(({ call, shard }) => commandFor('evalsha', call.script.sha1, call, shard)),
    )
    const [only, ...others] = groups as [GroupCall, ...GroupCall[]]
    if (others.length === 0) await finish(only, replies[0] as Promise<unknown>)
    else await Promise.all(groups.map((group, i) => finish(group, replies[i] as Promise<unknown>)))

    /** Settles the operations of a group by the reply to its call. */
    async function finish(group: GroupCall, pendingReply: Promise<unknown>): Promise<void> {
      const { call, indexes, shard } = group
      try {
        const outcomes = readReply(call, await replyTo(group, pendingReply))
        for (let j = 0; j < outcomes.length; j++) settle(indexes[j] as number, outcomes[j] as Outcome)
      } catch (cause) {
        if (indexes.length > 1 && isSplit(cause)) {
          // All are sent at once, so operations that share keys keep their order.
          const runAlone = (i: number) =>
            run([operations[i] as Operation], (_, outcome) => settle(i, outcome))
          await Promise.all(indexes.map(runAlone))
        } else {
          const error = commandError(cause, serverOf?.(shard))
          for (const index of indexes) settle(index, error)
        }
      }
    }
  }

  /** Returns the reply to a call, which is sent again if it certainly was not run. */
  async function replyTo(group: GroupCall, pendingReply: Promise<unknown>): Promise<unknown> {
    try {
      return await pendingReply
    } catch (error) {
      return runAgain(group, error)
    }
  }
}

function commandFor(name: string, script: string, { keys, args }: ScriptCall, shard: number): Command {
  const words: Command['words'] = [name, script, String(keys.length), ...keys, ...args]
  return { shard, words, firstKey: 3, keyCount: keys.length }
}
