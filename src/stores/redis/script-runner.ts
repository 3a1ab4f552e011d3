import { groupBy } from '../../util/group-by.js'
import type { Send } from '../shared/batcher.js'
import { asStoreError, type StoreError } from '../store-error.js'
import type { Operation } from './operations.js'
import { readReply, type ScriptCall } from './script-call.js'
import type { Command, Transport } from './transport.js'

/** The error of a call for several keys of a moving slot: each may be on either node. */
const HALF_MOVED = /^redis: (TRYAGAIN|Too many Cluster redirections\. Last error: .*\b(MOVED|ASK|TRYAGAIN)\b)/

type Results<Result> = readonly (Result | StoreError)[]
type Answer<Result> = (index: number, result: Result | StoreError) => void

/** Items of one shard that go in one call, and their indexes in the batch. */
interface Group<Item> {
  readonly shard: number
  readonly items: readonly Item[]
  readonly indexes: readonly number[]
}

interface ShardCall<Result> extends ScriptCall<Result> {
  readonly shard: number
}

/**
 * Returns a `Send` that runs an operation with one script call for each group of items. Items that share
 * keys keep their order.
 */
export function scriptRunner<Item, Result>(
  transport: Transport,
  operation: Operation<Item, Result>,
): Send<Item, Result> {
  async function runGroups(groups: readonly Group<Item>[], answer: Answer<Result>): Promise<void> {
    const calls = groups.map(({ shard, items }) => ({ shard, ...operation.callFor(items) }))
    const replies = transport.send(calls.map((call) => commandFor('evalsha', call.script.sha1, call)))
    const results = calls.map((call, i) => resultsOf(transport, call, replies[i]))
    await Promise.all(results.map((result, i) => answerGroup(groups[i] as Group<Item>, result, answer)))
  }

  async function answerGroup(
    { shard, items, indexes }: Group<Item>,
    results: Promise<Results<Result>>,
    answer: Answer<Result>,
  ): Promise<void> {
    try {
      for (const [i, result] of (await results).entries()) answer(indexes[i] as number, result)
    } catch (cause) {
      const error = asStoreError('redis', cause)
      if (items.length > 1 && HALF_MOVED.test(error.message)) {
        const alone = items.map((item, i) => ({ shard, items: [item], indexes: [indexes[i] as number] }))
        return runGroups(alone, answer)
      }
      for (const index of indexes) answer(index, error)
    }
  }

  return (items, answer) => runGroups(groupsOf(items, transport, operation), answer)
}

/** Groups items by shard, and those of a shard by the operation's rule. */
function groupsOf<Item, Result>(
  items: readonly Item[],
  { shardOf }: Transport,
  { keyOf, groupingOf }: Operation<Item, Result>,
): Group<Item>[] {
  const pick = (indexes: readonly number[]) => indexes.map((i) => items[i] as Item)
  const all = [...items.keys()]
  const byShard = shardOf ? groupBy(all, (i) => shardOf(keyOf(items[i] as Item))) : new Map([[0, all]])
  return [...byShard].flatMap(([shard, ofShard]) => {
    const groupOf = groupingOf?.(pick(ofShard))
    const groups = groupOf ? groupBy(ofShard, (i) => groupOf(items[i] as Item)).values() : [ofShard]
    return Array.from(groups, (indexes) => ({ shard, items: pick(indexes), indexes }))
  })
}

/**
 * Returns the results in a reply. A server that does not know the script (after a restart, a failover or
 * SCRIPT FLUSH) has not run it, so the call is sent once more with the script's text.
 */
async function resultsOf<Result>(
  transport: Transport,
  call: ShardCall<Result>,
  reply: Promise<unknown> | undefined,
): Promise<Results<Result>> {
  try {
    return readReply(call, await reply)
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
  }
  const [again] = transport.send([commandFor('eval', call.script.text, call)])
  return readReply(call, await again)
}

function commandFor(name: string, script: string, { shard, keys, args }: ShardCall<unknown>): Command {
  return { shard, words: [name, script, String(keys.length), ...keys, ...args] }
}
