import { groupBy } from '../../util/group-by.js'
import { retry } from '../../util/retry.js'
import type { Send } from '../shared/batcher.js'
import type { KeyedPolicy } from '../store.js'
import type { StoreError } from '../store-error.js'
import { commandError, isMoving, isSplit, isUnknownScript } from './errors.js'
import { readReply, type ScriptCall } from './script-call.js'
import type { Command, Transport } from './transport.js'

/** How often a call is sent while its keys are moving to another node: for a tenth of a second at most. */
const MAX_ATTEMPTS = 8

/** A call for some items of a batch. */
interface GroupCall<Result> {
  readonly shard: number
  /** The indexes of the items in the batch. */
  readonly indexes: readonly number[]
  readonly call: ScriptCall<Result>
}

/**
 * Returns a `Send` that runs a script on batches of items, each of which has all its keys in one shard. It
 * makes one call for each shard of a Cluster, and to a single server one for each group of indexes that
 * `split` returns.
 */
export function scriptRunner<Item extends readonly KeyedPolicy[], Result>(
  { shardOf, serverOf, send }: Transport,
  callFor: (items: readonly Item[]) => ScriptCall<Result>,
  split: (items: readonly Item[]) => Iterable<readonly number[]> = (items) => [indexesOf(items)],
): Send<Item, Result> {
  function callsFor(items: readonly Item[]): GroupCall<Result>[] {
    const calls: GroupCall<Result>[] = []
    const add = (shard: number, indexes: readonly number[]) =>
      calls.push({ shard, indexes, call: callFor(indexes.map((i) => items[i] as Item)) })
    if (shardOf === undefined) for (const indexes of split(items)) add(0, indexes)
    else {
      const byShard = groupBy(items.keys(), (i) => shardOf(items[i]?.[0]?.key ?? ''))
      for (const [shard, indexes] of byShard) add(shard, indexes)
    }
    return calls
  }

  /** Sends a call again that was certainly not run, as the reply says. Throws any other error. */
  async function runAgain(group: GroupCall<Result>, error: unknown): Promise<unknown> {
    if (isUnknownScript(error)) return sendText(group)
    if (!isMoving(error) || group.indexes.length > 1) throw error
    return retry(() => sendText(group), { isTemporary: isMoving, maxAttempts: MAX_ATTEMPTS })
  }

  async function sendText({ shard, call }: GroupCall<Result>): Promise<unknown> {
    const [reply] = send([commandFor('eval', call.script.text, call, shard)])
    return reply
  }

  return async function run(items, answer) {
    const groups = callsFor(items)
    const replies = send(
      groups.map(({ call, shard }) => commandFor('evalsha', call.script.sha1, call, shard)),
    )
    const answered = groups.map(async (group, i) => {
      const { call, indexes, shard } = group
      try {
        const reply = await (replies[i] as Promise<unknown>).catch((error) => runAgain(group, error))
        const results = readReply(call, reply)
        for (let j = 0; j < results.length; j++)
          answer(indexes[j] as number, results[j] as Result | StoreError)
      } catch (cause) {
        if (indexes.length > 1 && isSplit(cause)) {
          // All are sent at once, so items that share keys keep their order.
          const runAlone = (i: number) => run([items[i] as Item], (_, result) => answer(i, result))
          await Promise.all(indexes.map(runAlone))
        } else {
          const error = commandError(cause, serverOf?.(shard))
          for (const index of indexes) answer(index, error)
        }
      }
    })
    await Promise.all(answered)
  }
}

/** Returns the indexes of all items. */
export function indexesOf(items: readonly unknown[]): readonly number[] {
  return items.map((_, i) => i)
}

function commandFor(
  name: string,
  script: string,
  { keys, args }: ScriptCall<unknown>,
  shard: number,
): Command {
  const words: Command['words'] = [name, script, String(keys.length), ...keys, ...args]
  return { shard, words, firstKey: 3, keyCount: keys.length }
}
