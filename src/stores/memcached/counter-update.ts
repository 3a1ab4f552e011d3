import type { State } from '../../policies/policy.js'
import { retry } from '../../util/retry.js'
import type { Operation, Result } from '../operation.js'
import { type AnyOperation, type AnyResult, applyInOrder, keysOf } from '../shared/apply-in-order.js'
import { keyQueue } from '../shared/key-queue.js'
import type { KeyedPolicy } from '../store.js'
import type { CounterIo } from './counter-io.js'
import { type Counters, countersOf } from './counters.js'
import { contentionError } from './errors.js'
import type { SliceCache } from './slice-cache.js'

/**
 * Creates the function that applies operations to the counters of a key, by the state that they make.
 *
 * - A higher count of the present slice is written by compare-and-swap, before anything else, and the change
 *   is tried again if others have counted meanwhile: no unit is taken twice. Earlier slices never rise.
 * - Lower counts are differences, which `decr` subtracts down to 0: what others count meanwhile stays.
 */
export function counterUpdater(io: CounterIo, slices: SliceCache) {
  async function attempt(
    key: string,
    operations: readonly AnyOperation[],
  ): Promise<readonly AnyResult[] | undefined> {
    const { policy } = keysOf(operations[0] as AnyOperation)[0] as KeyedPolicy
    const counters = countersOf(policy) as Counters
    const nowMs = Date.now()
    const present = counters.sliceAt(nowMs)
    const counterAt = (i: number) => counters.keyOf(key, present - i)
    slices.invalidate(key)
    const [version, { next, older }] = await Promise.all([
      io.readVersion(key, counterAt(0)),
      slices.read(key, counters, nowMs),
    ])
    const counts = [Math.min(version.count + next, policy.limit), ...older]
    const state = counts.some((count) => count > 0) ? counters.stateOf(present, counts) : undefined
    const { results, writes } = applyInOrder(operations, () => state, nowMs)
    const [write] = writes.values() // all operations are of one key
    const added = write === undefined ? [] : differences(counts, write.state)
    const [raised = 0] = added
    const total = version.count + raised
    if (raised > 0 && !(await io.swap(key, counterAt(0), version, total, counters.expirationAt(nowMs))))
      return undefined
    const lower = async (units: number, i: number) => {
      if (units < 0) await io.subtract(key, counterAt(i), -units)
    }
    await Promise.all(added.map(lower)).finally(() => slices.invalidate(key))
    return results
  }

  async function runAll(key: string, operations: readonly AnyOperation[]): Promise<readonly AnyResult[]> {
    const results = await retry(() => attempt(key, operations), { isFinal: (done) => done !== undefined })
    if (results === undefined) throw contentionError(key)
    return results
  }

  const run = keyQueue(runAll)
  return async function apply(key: string, operation: Operation): Promise<Result> {
    const [result] = await run(key, [operation])
    if (result instanceof Error) throw result
    return result as Result
  }
}

/** Returns what a state adds to each count: its own are its last numbers, and 0 where there is none. */
function differences(counts: readonly number[], state: State | undefined): number[] {
  const changed = state?.slice(-counts.length)
  return counts.map((count, i) => (changed?.[i] ?? 0) - count)
}
