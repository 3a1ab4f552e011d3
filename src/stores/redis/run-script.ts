import type { StoreError } from '../../errors.js'
import { groupBy } from '../../group-by.js'
import { asStoreError, type Command, type Courier } from './courier.js'
import { readReply, type ScriptCall } from './script-call.js'
import type { Work } from './work.js'

/**
 * Does work on items, in order as far as they share keys. Gives a result for each, or the `StoreError` that tells why there is
 * none.
 */
export async function runScript<Item, Result>(
  courier: Courier,
  work: Work<Item, Result>,
  items: readonly Item[],
): Promise<readonly (Result | StoreError)[]> {
  const groups = groupsOf(courier, work, items)
  const calls = groups.map(({ place, own }) => ({ place, ...work.callFor(own) }))
  const replies = courier.send(calls.map((call) => commandOf('evalsha', call.script.sha1, call)))
  const [call] = calls
  if (calls.length === 1 && call !== undefined) return resultsOf(courier, call, replies[0])
  const outcomes = await Promise.allSettled(calls.map((each, i) => resultsOf(courier, each, replies[i])))
  return inOrderOfItems(groups, outcomes)
}

/** Items that go in one call, and their positions among all items; none where it is the only group. */
interface Group<Item> {
  readonly place: number
  readonly own: readonly Item[]
  readonly positions: readonly number[]
}

/** Splits items by the places of their keys, and those of a place into kinds. */
function groupsOf<Item, Result>(
  { placeOf }: Courier,
  { keyOf, kindsAmong }: Work<Item, Result>,
  items: readonly Item[],
): Group<Item>[] {
  if (placeOf === undefined && kindsAmong(items) === undefined)
    return [{ place: 0, own: items, positions: [] }]
  const pick = (positions: readonly number[]) => positions.map((i) => items[i] as Item)
  const byPlace = groupBy(items.keys(), (i) => placeOf?.(keyOf(items[i] as Item)) ?? 0)
  return [...byPlace].flatMap(([place, there]) => {
    const kindOf = kindsAmong(pick(there)) ?? (() => 'one')
    const byKind = groupBy(there, (i) => kindOf(items[i] as Item))
    return Array.from(byKind.values(), (positions) => ({ place, own: pick(positions), positions }))
  })
}

function inOrderOfItems<Item, Result>(
  groups: readonly Group<Item>[],
  outcomes: readonly PromiseSettledResult<readonly (Result | StoreError)[]>[],
): (Result | StoreError)[] {
  const results: (Result | StoreError)[] = []
  groups.forEach(({ positions }, at) => {
    const outcome = outcomes[at] as (typeof outcomes)[number]
    positions.forEach((position, i) => {
      results[position] = outcome.status === 'fulfilled' ? (outcome.value[i] as Result) : outcome.reason
    })
  })
  return results
}

/** A call, and the place of all its keys. */
interface PlacedCall<Result> extends ScriptCall<Result> {
  readonly place: number
}

/**
 * Waits for the reply. A server that does not know the script (after a restart, a failover or SCRIPT FLUSH) has not run it,
 * so it is sent once more with its text; nothing else is ever sent again. Rejects with `StoreError` alone.
 */
async function resultsOf<Result>(
  courier: Courier,
  call: PlacedCall<Result>,
  reply: Promise<unknown> | undefined,
): Promise<readonly (Result | StoreError)[]> {
  try {
    return readReply(call, await reply)
  } catch (error) {
    if (!isUnknownScript(error)) throw asStoreError(error)
  }
  try {
    const [again] = courier.send([commandOf('eval', call.script.text, call)])
    return readReply(call, await again)
  } catch (error) {
    throw asStoreError(error)
  }
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}

function commandOf(name: string, script: string, { place, keys, args }: PlacedCall<unknown>): Command {
  return { place, words: [name, script, String(keys.length), ...keys, ...args] }
}
