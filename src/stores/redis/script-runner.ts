import { groupBy } from '../../util/group-by.js'
import type { Send } from '../shared/batcher.js'
import type { Charge } from '../store.js'
import { asStoreError } from '../store-error.js'
import { readReply, type ScriptCall } from './script-call.js'
import type { Command, Transport } from './transport.js'

/** Errors of a call for several keys whose slot is migrating: each key may be on either node. */
const MIGRATING = /^redis: (TRYAGAIN|Too many Cluster redirections\. Last error: .*\b(MOVED|ASK|TRYAGAIN)\b)/

interface GroupCall<Result> extends ScriptCall<Result> {
  readonly shard: number
  /** The indexes of its items in the batch. */
  readonly indexes: readonly number[]
}

/**
 * Returns a `Send` that runs a script on batches of items, each of which has all its keys in one shard. It
 * makes one call for each shard of a Cluster, and to a single server one for each group of indexes that
 * `split` returns.
 */
export function scriptRunner<Item extends Charge, Result>(
  { shardOf, send }: Transport,
  callFor: (items: readonly Item[]) => ScriptCall<Result>,
  split: (items: readonly Item[]) => Iterable<readonly number[]> = (items) => [[...items.keys()]],
): Send<Item, Result> {
  function callsFor(items: readonly Item[]): GroupCall<Result>[] {
    const groups: Iterable<readonly [number, readonly number[]]> = shardOf
      ? groupBy(items.keys(), (i) => shardOf(items[i]?.[0]?.key ?? ''))
      : Array.from(split(items), (indexes) => [0, indexes])
    return Array.from(groups, ([shard, indexes]) => {
      return { shard, indexes, ...callFor(indexes.map((i) => items[i] as Item)) }
    })
  }

  /**
   * Returns the results in a reply. A server that does not know the script (after a restart, a failover or
   * SCRIPT FLUSH) has not run it, so the call is sent once more with the script's text.
   */
  async function resultsOf(call: GroupCall<Result>, reply: Promise<unknown> | undefined) {
    try {
      return readReply(call, await reply)
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
    }
    const [again] = send([commandFor('eval', call.script.text, call)])
    return readReply(call, await again)
  }

  return async function run(items, answer) {
    const calls = callsFor(items)
    const replies = send(calls.map((call) => commandFor('evalsha', call.script.sha1, call)))
    const answered = calls.map(async (call, i) => {
      const { indexes } = call
      try {
        for (const [j, result] of (await resultsOf(call, replies[i])).entries())
          answer(indexes[j] as number, result)
      } catch (cause) {
        const error = asStoreError('redis', cause)
        if (indexes.length > 1 && MIGRATING.test(error.message)) {
          // All are sent at once, so items that share keys keep their order.
          const runAlone = (i: number) => run([items[i] as Item], (_, result) => answer(i, result))
          await Promise.all(indexes.map(runAlone))
        } else for (const index of indexes) answer(index, error)
      }
    })
    await Promise.all(answered)
  }
}

function commandFor(name: string, script: string, { shard, keys, args }: GroupCall<unknown>): Command {
  return { shard, words: [name, script, String(keys.length), ...keys, ...args] }
}
