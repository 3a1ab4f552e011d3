import type { StoreError } from '../../errors.js'
import { groupBy } from '../../group-by.js'
import { asStoreError, type Command, type Courier } from './courier.js'
import { readReply, type ScriptCall } from './script-call.js'
import type { Work } from './work.js'

/**
 * Does work on items, in order within a place. Gives a result for each, or the `StoreError` that tells why there is none.
 * Where there is only one place, it rejects with that error.
 */
export async function runScript<Item, Result>(
  courier: Courier,
  work: Work<Item, Result>,
  items: readonly Item[],
): Promise<readonly (Result | StoreError)[]> {
  const { placeOf } = courier
  if (placeOf !== undefined) return runAtEach(courier, work, items, placeOf)
  const call = { place: 0, ...work.callFor(items) }
  const [reply] = courier.send([commandOf('evalsha', call.script.sha1, call)])
  return resultsOf(courier, call, reply)
}

async function runAtEach<Item, Result>(
  courier: Courier,
  { keyOf, callFor }: Work<Item, Result>,
  items: readonly Item[],
  placeOf: (key: string) => number,
): Promise<readonly (Result | StoreError)[]> {
  const groups = [...groupBy(items.keys(), (i) => placeOf(keyOf(items[i] as Item)))]
  const calls = groups.map(([place, group]) => ({ place, ...callFor(group.map((i) => items[i] as Item)) }))
  const replies = courier.send(calls.map((call) => commandOf('evalsha', call.script.sha1, call)))
  const results: (Result | StoreError)[] = new Array(items.length)
  const found = await Promise.allSettled(calls.map((call, at) => resultsOf(courier, call, replies[at])))
  groups.forEach(([, group], at) => {
    const outcome = found[at] as (typeof found)[number]
    group.forEach((i, n) => {
      results[i] = outcome.status === 'fulfilled' ? (outcome.value[n] as Result) : outcome.reason
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
