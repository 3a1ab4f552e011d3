import { type ApplyToKey, applyByPromise, type KeyedOperations } from '../../pipe/by-key.js'
import { retry } from '../../util/retry.js'
import { contentionError } from '../builders/swap-loop.js'
import type { Result } from '../operation.js'
import { applyBatch } from '../shared/apply-batch.js'
import type { CounterIo } from './counter-io.js'
import { countersOf } from './counters.js'
import type { SliceCache } from './slice-cache.js'

/**
 * Creates the function that applies operations to the counters of a key, by the state that they make.
 *
 * - A higher count of the present slice is written by compare-and-swap, before anything else, and the change
 *   is tried again if others have counted meanwhile: no unit is taken twice. Earlier slices never rise.
 * - Lower counts are differences, which `decr` subtracts down to 0: what others count meanwhile stays.
 */
export function counterUpdater(io: CounterIo, slices: SliceCache): ApplyToKey {
  async function attempt({
    key,
    policy,
    operations,
  }: KeyedOperations): Promise<readonly (Result | Error)[] | undefined> {
    const counters = countersOf(policy)
    const nowMs = Date.now()
    const present = counters.sliceAt(nowMs)
    const counterAt = (i: number) => counters.keyOf(key, present - i)
    slices.invalidate(key)
    const [version, { next, older }] = await Promise.all([
      io.readVersion(key, counterAt(0)),
      slices.read(key, counters, nowMs),
    ])
    const counts = [version.count + next, ...older] // more than the limit, if it was lowered
    const state = counts.some((count) => count > 0) ? counters.stateOf(present, counts) : undefined
    const { results, writes } = applyBatch(operations, () => state, nowMs)
    const [write] = writes.values() // all operations are of one key
    const after = write?.state ? counters.countsIn(write.state) : []
    const added = write === undefined ? [] : counts.map((count, i) => (after[i] ?? 0) - count)
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

  return applyByPromise('memcached', async (keyed) => {
    const results = await retry(() => attempt(keyed), { isFinal: (done) => done !== undefined })
    if (results === undefined) throw contentionError('memcached', keyed.key)
    return results
  })
}
