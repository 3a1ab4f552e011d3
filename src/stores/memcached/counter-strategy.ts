import type { Policy } from '../../policies/policy.js'
import { isPromise } from '../../util/maybe-promise.js'
import type { Charge, ChargeResult, Operation, Outcome, Refund, Result } from '../operation.js'
import { applyBatch, FORGOTTEN, REFUNDED } from '../shared/apply-batch.js'
import { warnRefundFailed } from '../shared/refunds.js'
import { type ApplyToKey, keyedPolicyOf } from '../shared/shards.js'
import { asStoreError } from '../store-error.js'
import { type MemcachedTransport, removeItem } from './connection.js'
import { counterIo } from './counter-io.js'
import { counterUpdater } from './counter-update.js'
import { countersOf } from './counters.js'
import { refundAndWatch } from './settled-count.js'
import { CLOCK_TOLERANCE_MS, type OtherSlices, sliceCache } from './slice-cache.js'

/** Applies operations of one key that go together. */
type RunSegment = (key: string, operations: readonly Operation[]) => Promise<readonly (Outcome | Error)[]>

/**
 * Creates the strategy of counters by `incr`. Bound: never more than the policy admits, since units are
 * counted before they are allowed. A denied charge refunds its units before its verdict is returned; charges
 * that are decided meanwhile may be denied for them.
 *
 * All charges of one key in a batch are one increment, whose reply shows what others counted before. For
 * example, charges of 2 and 3 in slice 7 of a sliding window with a limit of 10 and two older slices:
 *
 *     incr key:7 5               -> 8      3 were there before  } one write to the server
 *     get  key:6, get key:5      -> 1, 3   or from the cache    }
 *     used: 3 + 1 + 3 = 7 of 10            the 2 are allowed, the 3 would make 12: denied
 *     decr key:7 3                         before the verdicts are returned
 *
 * Of two processes that do this at the same time, at least one sees the other's increment.
 */
export function counterStrategy(transport: MemcachedTransport): ApplyToKey {
  const io = counterIo(transport)
  const slices = sliceCache(io)

  async function chargeAll(key: string, charges: readonly Charge[]): Promise<readonly ChargeResult[]> {
    const { policy } = keyedPolicyOf(charges[0])
    const counters = countersOf(policy)
    const nowMs = Date.now()
    const counter = counters.keyOf(key, counters.sliceAt(nowMs))
    const refundUnits = (units: number) => io.subtract(key, counter, units).catch(warnRefundFailed)
    const added = unitsWanted(charges, policy)
    const adding = io.add(key, counter, added, counters.expirationAt(nowMs))
    try {
      const reading = slices.read(key, counters, nowMs)
      let [version, others] = isPromise(reading)
        ? await Promise.all([adding, reading])
        : [await adding, reading]
      const decide = (isSettled?: boolean) =>
        evaluate(charges, policy, version.count, others, nowMs, isSettled)
      let verdicts = decide()
      if (others.isStale && verdicts.some(isDenial)) {
        slices.invalidate(key)
        others = await slices.read(key, counters, nowMs)
        verdicts = decide()
      }
      const units = added - unitsOf(charges, (i) => verdicts[i]?.allowed === true)
      if (version.count + others.next > mostOf(policy)) {
        const isSettled = await refundAndWatch(io, { key, counter, units, version })
        return isSettled ? decide(isSettled) : verdicts
      }
      if (units > 0) await refundUnits(units)
      return verdicts
    } catch (error) {
      if (added > 0) adding.then(() => refundUnits(added)).catch(() => undefined)
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
  async function forget(key: string, operations: readonly Operation[]): Promise<readonly Result[]> {
    const { policy } = keyedPolicyOf(operations[0])
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
  const refundAll = (key: string, refunds: readonly Refund[]) =>
    Promise.all(refunds.map((each) => refund(key, each).catch((error: Error) => error)))
  function runOf(operation: Operation | undefined): RunSegment {
    const type = operation?.type
    if (type === 'charge') return chargeAll as RunSegment
    if (type === 'refund') return refundAll as RunSegment
    return type === 'forget' ? forget : update
  }

  return (key, operations) => applySegments(key, operations, runOf)
}

/** Returns the units to count: of all charges that fit the limit alone, and no more than the limit. */
function unitsWanted(charges: readonly Charge[], { limit }: Policy): number {
  return Math.min(
    limit,
    unitsOf(charges, (_, units) => units <= limit),
  )
}

/** Returns the units of the charges that `counts` selects, by index and units. */
function unitsOf(charges: readonly Charge[], counts: (index: number, units: number) => boolean): number {
  let sum = 0
  let index = 0
  for (const { parts } of charges) {
    let units = 0
    for (const { cost } of parts) units += cost
    if (counts(index++, units)) sum += units
  }
  return sum
}

/** Returns the most units that a client can use or owe, while the limit stays the same. */
function mostOf({ limit, debt = 0 }: Policy): number {
  return limit + debt
}

const isDenial = ({ allowed }: ChargeResult) => allowed === false

/**
 * Returns the verdicts. `before` is what others have counted in the present slice. Units beyond what a client
 * can use are assumed to be refunded soon, unless the count has settled: then the limit was lowered.
 */
export function evaluate(
  charges: readonly Charge[],
  policy: Policy,
  before: number,
  { next, older }: Pick<OtherSlices, 'next' | 'older'>,
  nowMs: number,
  isSettled = false,
): readonly ChargeResult[] {
  const { sliceAt, stateOf } = countersOf(policy)
  const newestCount = isSettled ? before + next : Math.min(before + next, mostOf(policy))
  const state = stateOf(sliceAt(nowMs), [newestCount, ...older])
  const verdicts = applyBatch(charges, () => state, nowMs).results as ChargeResult[]
  if (!verdicts.some(isDenial) || !isOvercounted()) return verdicts
  return verdicts.map((verdict) => (isDenial(verdict) ? { ...verdict, isTentative: true } : verdict))

  /** Whether the counts exceed the limit, so that some of them are about to be refunded. */
  function isOvercounted(): boolean {
    const counts = [before + next, ...older]
    const newest = counts.findIndex((count) => count > 0)
    const oneFewer = counts.map((count, i) => (i === newest ? count - 1 : count))
    return newest >= 0 && policy.take(stateOf(sliceAt(nowMs), oneFewer), nowMs, 0).remaining === 0
  }
}

/**
 * Applies operations in turn, those that follow one another and are applied the same way together. Never
 * rejects: all operations of a segment that fails have its error.
 */
async function applySegments(
  key: string,
  operations: readonly Operation[],
  runOf: (operation: Operation | undefined) => RunSegment,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (let start = 0, end = 0; start < operations.length; start = end) {
    const run = runOf(operations[start])
    for (end = start + 1; end < operations.length; end++) if (runOf(operations[end]) !== run) break
    const segment = end - start === operations.length ? operations : operations.slice(start, end)
    try {
      for (const outcome of await run(key, segment)) outcomes.push(asOutcome(outcome))
    } catch (error) {
      const failure = asStoreError('memcached', error)
      for (const _ of segment) outcomes.push(failure)
    }
  }
  return outcomes
}

function asOutcome(outcome: Outcome | Error): Outcome {
  return outcome instanceof Error ? asStoreError('memcached', outcome) : outcome
}
