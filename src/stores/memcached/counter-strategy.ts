import { type ApplyToKey, applyByPromise, failedOutcomes, type KeyedOperations } from '../../pipe/by-key.js'
import type { Policy } from '../../policies/policy.js'
import { isPromise, type MaybePromise } from '../../util/maybe-promise.js'
import type { Charge, ChargeResult, Operation, Refund, Result } from '../operation.js'
import { FORGOTTEN, REFUNDED } from '../shared/apply-batch.js'
import { warnRefundFailed } from '../shared/refunds.js'
import { type MemcachedTransport, removeItem } from './connection.js'
import { type CounterIo, counterIo } from './counter-io.js'
import { counterUpdater } from './counter-update.js'
import {
  type Counters,
  type CountVersion,
  countersOf,
  evaluate,
  isDenial,
  isOver,
  type OtherSlices,
  unitsAllowed,
  unitsWanted,
} from './counters.js'
import { CLOCK_TOLERANCE_MS, sliceCache } from './slice-cache.js'

/** An increment, and the charges of a key that share it. */
interface SharedIncrement {
  readonly key: string
  readonly charges: readonly Charge[]
  readonly policy: Policy
  readonly counters: Counters
  readonly nowMs: number
  /** The counter of the present slice, and the units that are added to it. */
  readonly counter: string
  readonly added: number
}

/**
 * Creates the strategy of counters by `incr`: a function that returns, for an operation, what applies it.
 *
 * Bound: never more than the policy admits, since units are counted before they are allowed. A denied charge
 * refunds its units before its verdict is returned. Meanwhile, charges of other processes may be denied
 * because of these units.
 *
 * Charges that run together share one increment. Its reply shows what others counted before. For
 * example, charges of 2 and 3 in slice 7 of a sliding window with a limit of 10 and two older slices:
 *
 *     incr key:7 5               -> 8      3 were there before  } one write to the server
 *     get  key:6, get key:5      -> 1, 3   or from the cache    }
 *     used: 3 + 1 + 3 = 7 of 10            the 2 are allowed, the 3 would make 12: denied
 *     decr key:7 3                         before the verdicts are returned
 *
 * Of two processes that do this at the same time, at least one sees the other's increment.
 */
export function counterStrategy(transport: MemcachedTransport): (operation: Operation) => ApplyToKey {
  const io = counterIo(transport)
  const slices = sliceCache(io)

  const chargeAll: ApplyToKey = (keyed, settle) => {
    const { key, policy } = keyed
    const charges = keyed.operations as readonly Charge[]
    const counters = countersOf(policy)
    const nowMs = Date.now()
    const counter = counters.keyOf(key, counters.sliceAt(nowMs))
    const added = unitsWanted(charges, policy)
    io.add(key, counter, added, counters.expirationAt(nowMs), (version) => {
      if (!isPromise(reading) && !(version instanceof Error)) {
        const verdicts = evaluate(charges, policy, version.count, reading, nowMs)
        if (!isOver(version, reading, policy) && !verdicts.some(isDenial)) {
          settle(verdicts)
          return
        }
      }
      const increment = { key, charges, policy, counters, nowMs, counter, added }
      const fail = (cause: unknown) => settle(failedOutcomes('memcached', keyed, cause))
      decideSlowly(increment, version, reading).then(settle, fail)
    })
    const reading = slices.read(key, counters, nowMs) // after the increment, so that others see it
    if (isPromise(reading)) reading.then(undefined, () => undefined) // it may reject before it is awaited
  }

  /** Decides charges if some are denied, or must wait for the counts of other slices. */
  async function decideSlowly(
    increment: SharedIncrement,
    version: CountVersion | Error,
    reading: MaybePromise<OtherSlices>,
  ): Promise<readonly ChargeResult[]> {
    const { key, charges, policy, counters, nowMs, counter, added } = increment
    const refundUnits = (units: number) => io.subtract(key, counter, units).catch(warnRefundFailed)
    try {
      let others = await reading
      if (version instanceof Error) throw version
      const decide = (isSettled?: boolean) =>
        evaluate(charges, policy, version.count, others, nowMs, isSettled)
      let verdicts = decide()
      if (others.isStale && verdicts.some(isDenial)) {
        slices.invalidate(key)
        others = await slices.read(key, counters, nowMs)
        verdicts = decide()
      }
      const units = added - unitsAllowed(charges, verdicts)
      if (isOver(version, others, policy)) {
        const isSettled = await refundAndWatch(io, { key, counter, units, version })
        return isSettled ? decide(isSettled) : verdicts
      }
      if (units > 0) await refundUnits(units)
      return verdicts
    } catch (error) {
      if (added > 0 && !(version instanceof Error)) refundUnits(added)
      throw error
    }
  }

  async function refund(key: string, { policy, cost, takenAtMs }: Refund): Promise<Result> {
    const { sliceAt, older, keyOf } = countersOf(policy)
    const present = sliceAt(Date.now())
    const taken = sliceAt(takenAtMs)
    if (cost === 0 || taken < present - older) return REFUNDED
    try {
      await io.subtract(key, keyOf(key, taken), cost)
      return REFUNDED
    } finally {
      if (taken < present) slices.invalidate(key)
    }
  }

  /** Also removes the counters of slices in which a process may count whose clock is ahead. */
  async function forget({ key, policy, operations }: KeyedOperations): Promise<readonly Result[]> {
    const { sliceAt, older, keyOf } = countersOf(policy)
    const nowMs = Date.now()
    const first = sliceAt(nowMs) - older
    const last = Math.min(sliceAt(nowMs) + Math.max(1, older), sliceAt(nowMs + CLOCK_TOLERANCE_MS) + 1)
    const removals = Array.from({ length: last - first + 1 }, (_, i) =>
      removeItem(transport, key, keyOf(key, first + i)),
    )
    await Promise.all(removals).finally(() => slices.invalidate(key))
    return operations.map(() => FORGOTTEN)
  }

  const update = counterUpdater(io, slices)
  const refundAll = applyByPromise('memcached', ({ key, operations }) =>
    Promise.all(operations.map((each) => refund(key, each as Refund).catch((error: Error) => error))),
  )
  const forgetAll = applyByPromise('memcached', forget)
  return function counterApplier({ type }) {
    if (type === 'charge') return chargeAll
    if (type === 'refund') return refundAll
    return type === 'forget' ? forgetAll : update
  }
}

/**
 * Refunds the units of denied charges. Resolves with whether a count over the limit has settled: no other
 * process changed the counter between the increment, which returned `version`, and a round trip after the
 * refund. Then the limit was lowered. Otherwise, other processes may be about to refund their increments.
 *
 * No reply tells the two cases apart for certain. If a process takes longer than these two round trips to
 * refund an increment, its units count as used, and the times of a denial may be too late. Whether a charge
 * is allowed does not depend on this.
 */
async function refundAndWatch(
  { readVersion, subtract }: CounterIo,
  { key, counter, units, version }: { key: string; counter: string; units: number; version: CountVersion },
): Promise<boolean> {
  const tokenNow = () =>
    readVersion(key, counter).then(
      ({ cas }) => cas,
      () => undefined,
    )
  const tokenBefore = tokenNow() // travels ahead of the refund
  const tokenAfter =
    units === 0 ? version.cas : await subtract(key, counter, units).catch((error) => warnRefundFailed(error))
  if (!tokenAfter || (await tokenBefore) !== version.cas) return false
  return (await tokenNow()) === tokenAfter
}
