import { groupBy } from '../../util/group-by.js'
import type { Send } from '../shared/batcher.js'
import type { StoreError } from '../store-error.js'
import type { Work } from './operations.js'
import { readReply, type ScriptCall } from './script-call.js'
import { asStoreError, type Command, type Courier } from './transport.js'

/** How ioredis ends a call for several keys of a slot that is on its way to another node: each may be there already or not. */
const HALF_MOVED = /^redis: (TRYAGAIN|Too many Cluster redirections\. Last error: .*\b(MOVED|ASK|TRYAGAIN)\b)/

/**
 * Does work on items, in order as far as they share keys, with one call for each place and kind. Gives a result for each, or
 * the `StoreError` that tells why there is none.
 */
export function runScript<Item, Result>(courier: Courier, work: Work<Item, Result>): Send<Item, Result> {
  async function answerGroup(
    { place, own, positions }: Group<Item>,
    results: Promise<readonly (Result | StoreError)[]>,
    answer: Parameters<Send<Item, Result>>[1],
  ): Promise<void> {
    try {
      const found = await results
      own.forEach((_, i) => {
        answer(positions?.[i] ?? i, found[i] as Result | StoreError)
      })
    } catch (reason) {
      const error = asStoreError(reason)
      const alone = own.map((item, i) => ({ place, own: [item], positions: [positions?.[i] ?? i] }))
      if (alone.length > 1 && HALF_MOVED.test(error.message)) return answerGroups(alone, answer)
      for (const { positions } of alone) answer(positions[0] as number, error)
    }
  }

  async function answerGroups(
    groups: readonly Group<Item>[],
    answer: Parameters<Send<Item, Result>>[1],
  ): Promise<void> {
    const calls = groups.map(({ place, own }) => ({ place, ...work.callFor(own) }))
    const replies = courier.send(calls.map((call) => commandOf('evalsha', call.script.sha1, call)))
    await Promise.all(
      groups.map((group, i) => {
        const results = resultsOf(courier, calls[i] as PlacedCall<Result>, replies[i])
        return answerGroup(group, results, answer)
      }),
    )
  }

  return (items, answer) => answerGroups(groupsOf(courier, work, items), answer)
}

/** Items that go in one call, and their positions among all items; none where it is the only group. */
interface Group<Item> {
  readonly place: number
  readonly own: readonly Item[]
  readonly positions?: readonly number[]
}

/** Splits items by the places of their keys, and those of a place into kinds. */
function groupsOf<Item, Result>(
  { placeOf }: Courier,
  { keyOf, kindsAmong }: Work<Item, Result>,
  items: readonly Item[],
): Group<Item>[] {
  if (placeOf === undefined && kindsAmong(items) === undefined) return [{ place: 0, own: items }]
  const pick = (positions: readonly number[]) => positions.map((i) => items[i] as Item)
  const byPlace = groupBy(items.keys(), (i) => placeOf?.(keyOf(items[i] as Item)) ?? 0)
  return [...byPlace].flatMap(([place, there]) => {
    const kindOf = kindsAmong(pick(there)) ?? (() => 'one')
    const byKind = groupBy(there, (i) => kindOf(items[i] as Item))
    return Array.from(byKind.values(), (positions) => ({ place, own: pick(positions), positions }))
  })
}

/** A call, and the place of all its keys. */
interface PlacedCall<Result> extends ScriptCall<Result> {
  readonly place: number
}

/**
 * Waits for the reply. A server that does not know the script (after a restart, a failover or SCRIPT FLUSH) has not run it,
 * so it is sent once more with its text.
 */
async function resultsOf<Result>(
  courier: Courier,
  call: PlacedCall<Result>,
  reply: Promise<unknown> | undefined,
): Promise<readonly (Result | StoreError)[]> {
  try {
    return readReply(call, await reply)
  } catch (error) {
    if (!isUnknownScript(error)) throw error
  }
  const [again] = courier.send([commandOf('eval', call.script.text, call)])
  return readReply(call, await again)
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}

function commandOf(name: string, script: string, { place, keys, args }: PlacedCall<unknown>): Command {
  return { place, words: [name, script, String(keys.length), ...keys, ...args] }
}
