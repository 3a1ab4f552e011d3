import { groupBy } from '../../util/group-by.js'
import type { Send } from '../shared/batcher.js'
import type { StoreError } from '../store-error.js'
import type { Operation } from './operations.js'
import { readReply, type ScriptCall } from './script-call.js'
import { asStoreError, type Command, type Transport } from './transport.js'

/** How ioredis ends a call for several keys of a moving slot: each may be on either node. */
const HALF_MOVED = /^redis: (TRYAGAIN|Too many Cluster redirections\. Last error: .*\b(MOVED|ASK|TRYAGAIN)\b)/

type Answer<Result> = (index: number, result: Result | StoreError) => void

/** Items of one shard and one kind, which go in one call, and their indexes in the batch. */
interface Group<Item> {
  readonly shard: number
  readonly items: readonly Item[]
  readonly indexes: readonly number[]
}

interface ShardCall<Result> extends ScriptCall<Result> {
  readonly shard: number
}

/**
 * Returns a `Send` that runs an operation on items, with one call for each shard and kind. Items that share
 * keys keep their order. Each is answered when its call is.
 */
export function scriptRunner<Item, Result>(
  transport: Transport,
  operation: Operation<Item, Result>,
): Send<Item, Result> {
  async function runGroups(groups: readonly Group<Item>[], answer: Answer<Result>): Promise<void> {
    const calls = groups.map(({ shard, items }) => ({ shard, ...operation.callFor(items) }))
    const replies = transport.send(calls.map((call) => commandFor('evalsha', call.script.sha1, call)))
    const results = calls.map((call, i) => resultsOf(transport, call, replies[i]))
    await Promise.all(groups.map((group, i) => answerGroup(group, results[i] as (typeof results)[0], answer)))
  }

  async function answerGroup(
    { shard, items, indexes }: Group<Item>,
    results: Promise<readonly (Result | StoreError)[]>,
    answer: Answer<Result>,
  ): Promise<void> {
    try {
      for (const [i, result] of (await results).entries()) answer(indexes[i] as number, result)
    } catch (cause) {
      const error = asStoreError(cause)
      if (items.length > 1 && HALF_MOVED.test(error.message)) {
        const alone = items.map((item, i) => ({ shard, items: [item], indexes: [indexes[i] as number] }))
        return runGroups(alone, answer)
      }
      for (const index of indexes) answer(index, error)
    }
  }

  return (items, answer) => runGroups(groupsOf(items, transport, operation), answer)
}

/** Groups items by shard, and those of a shard by kind. */
function groupsOf<Item, Result>(
  items: readonly Item[],
  { shardOf }: Transport,
  { keyOf, kindsAmong }: Operation<Item, Result>,
): Group<Item>[] {
  const pick = (indexes: readonly number[]) => indexes.map((i) => items[i] as Item)
  const all = [...items.keys()]
  const byShard = shardOf ? groupBy(all, (i) => shardOf(keyOf(items[i] as Item))) : new Map([[0, all]])
  return [...byShard].flatMap(([shard, ofShard]) => {
    const kindOf = kindsAmong(pick(ofShard))
    const kinds = kindOf ? groupBy(ofShard, (i) => kindOf(items[i] as Item)).values() : [ofShard]
    return Array.from(kinds, (indexes) => ({ shard, items: pick(indexes), indexes }))
  })
}

/**
 * Awaits and reads a reply. A server that does not know the script (after a restart, a failover or SCRIPT
 * FLUSH) has not run it, so it is sent once more with its text.
 */
async function resultsOf<Result>(
  transport: Transport,
  call: ShardCall<Result>,
  reply: Promise<unknown> | undefined,
): Promise<readonly (Result | StoreError)[]> {
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
