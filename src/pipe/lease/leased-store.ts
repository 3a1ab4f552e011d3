import { isSamePolicy } from '../../policies/policy.js'
import { prepaidOf } from '../../policies/prepaid.js'
import {
  type ChargeResult,
  type Operation,
  type Outcome,
  onlyPartOf,
  type Part,
  type Refund,
} from '../../stores/operation.js'
import type { Store } from '../../stores/store.js'
import { asStoreError, StoreError } from '../../stores/store-error.js'
import { inBackground } from '../../util/background-timer.js'
import { catchMaybe, readAll, thenMaybe } from '../../util/maybe-promise.js'
import { RecentMap } from '../../util/recent-map.js'
import { timeout } from '../../util/timeout.js'
import type { PendingOperation } from '../batcher.js'
import { request } from '../pipe.js'
import { remoteStore } from '../remote-store.js'
import { endAt, pipeInto } from '../store-end.js'
import { blockSize } from './block.js'
import { Demand } from './demand.js'
import { type KeyLease, keyLease, type LeaseContext } from './key-lease.js'
import { setLeases } from './leases.js'

/** How units are leased. */
export interface LeaseSettings {
  /** The longest time that a process holds unused units. */
  readonly holdMs: number
  /** The most processes that share the limits. */
  readonly processes: number
  /** Called if unused units could not be returned. */
  readonly onReturnFailed: (error: StoreError) => void
  /** This process's clock, in milliseconds, for simulations and tests. */
  readonly now?: () => number
}

/** The most keys leased at once. The demand of at least as many keys is tracked. */
const MAX_KEYS = 10_000
/** The longest time that `close` waits for units to be returned. */
const CLOSING_MS = 1000
/** The shortest time that a denial is cached, as a share of `holdMs`. */
const MIN_DENIAL_SHARE = 1 / 20

/**
 * Creates a store that acquires units of a hot key from `store` a block at a time, and consumes them here
 * without a promise. All other operations go to `store`, in its batches:
 *
 * - charges of several parts, and peeks;
 * - charges of keys that are charged less than 8 units in `holdMs`;
 * - charges of limits too small for a block of two units;
 * - charges of policies without prepaid units (`consecutive`, `concurrency` and `ban`).
 *
 * **Never over the limit.** Units are taken before they are used, and used only as long as the policy's
 * `prepaid` rules allow. So the policy's bound holds for all processes together. Exceptions:
 *
 * - more processes than `processes`. If one process has two leased stores on the same keys, it counts as
 *   two;
 * - a `refund` to a token bucket while processes hold units of it: as many more as they hold may be
 *   admitted;
 * - a `reward` while processes hold units: it may give those units back;
 * - a `forget` in one process: the others still use the units that they hold of the key.
 *
 * **Blocks.** A process holds at most one block of a key, of up to `blockSize` units. If the store denies a
 * block, charges go to the store until the next block should be allowed, for `holdMs` at most.
 *
 * **Unused units.** All processes together hold at most a sixteenth of the limit (`MAX_PREPAID_SHARE`). A
 * block expires `holdMs` after it was requested. Its unused units are returned within another `holdMs`, and
 * on `close`, unless a refill restores them (see `prepaidRefill`). If the reply to a request is lost, the
 * units stay taken. After `close`, charges acquire blocks again, because other limiters may share the store.
 *
 * **Denials.** A denial is cached for `holdMs` at most, because other processes return units that often. It
 * is cached for at least a twentieth of that. Otherwise a key at its limit would call the store for every
 * unit that comes back.
 *
 * **Figures.** `remaining` is what the store had left after the block, plus what is left of the block. A
 * peek does not count held units.
 */
export function leasedStore(store: Store, settings: LeaseSettings): Store {
  const { holdMs, processes, onReturnFailed, now = () => performance.now() } = settings
  const leases = new Map<string, KeyLease>()
  const demands = new RecentMap<Demand>(MAX_KEYS)
  const returning = new Set<Promise<void>>()
  const innerEnd = endAt(store)
  const innerPipe = pipeInto(innerEnd)
  const context: LeaseContext = { innerEnd, innerPipe, processes, now, returnUnits }
  let expiryTimer: NodeJS.Timeout | undefined

  function consume(operation: Operation): ChargeResult | undefined {
    const part = leasablePart(operation)
    return part && leaseOf(part)?.consume(part.cost)
  }

  function send(item: PendingOperation): Outcome | undefined {
    const { operation } = item
    const part = leasablePart(operation)
    const lease = part && (leaseOf(part) ?? leaseIfHot(part))
    if (part !== undefined && lease !== undefined) return lease.charge(part, item)
    if (operation.type === 'forget') forgetKey(operation.key)
    return innerEnd.send(item)
  }

  /** Returns the lease of a key. Ends one of a policy with other numbers, whose units go back to the store. */
  function leaseOf({ key, policy }: Part): KeyLease | undefined {
    const lease = leases.get(key)
    if (lease === undefined || lease.policy === policy || isSamePolicy(lease.policy, policy)) return lease
    leases.delete(key)
    lease.close().catch(reportFailure)
    return undefined
  }

  /** Returns the only part of a charge, if it takes units. */
  function leasablePart(operation: Operation): Part | undefined {
    const part = onlyPartOf(operation)
    return part && Number.isSafeInteger(part.cost) && part.cost > 0 ? part : undefined
  }

  function forgetKey(key: string): void {
    leases.get(key)?.forget()
    leases.delete(key)
    demands.delete(key)
  }

  function leaseIfHot({ key, policy, cost }: Part): KeyLease | undefined {
    const prepaid = prepaidOf(policy)
    if (prepaid === undefined || blockSize(policy, processes) < 2) return undefined
    const demand = demands.get(key) ?? new Demand(holdMs)
    if (!demand.isHotAt(now()) || leases.size >= MAX_KEYS) {
      demand.add(cost, now())
      demands.set(key, demand)
      return undefined
    }
    const lease = keyLease(context, { key, policy, prepaid, holdMs }, demand)
    leases.set(key, lease)
    expiryTimer ??= inBackground(setInterval(expire, holdMs))
    return lease
  }

  function expire(): void {
    const nowMs = now()
    for (const [key, lease] of leases) {
      lease.expire(nowMs)
      if (lease.isUnused(nowMs)) leases.delete(key)
    }
    if (leases.size > 0) return
    clearInterval(expiryTimer)
    expiryTimer = undefined
  }

  /** Calls the store at once, so that the next charge finds the units there. */
  function returnUnits(refund: Refund): void {
    const returned = (async () => void (await request(innerPipe, refund)))()
      .catch(reportFailure)
      .finally(() => returning.delete(returned))
    returning.add(returned)
  }

  async function returnAll(): Promise<void> {
    await Promise.all(Array.from(leases.values(), (lease) => lease.close()))
    await Promise.all(returning)
  }

  function reportFailure(error: unknown): void {
    onReturnFailed(asStoreError(store.name, error))
  }

  const pipe = pipeInto({ send })
  const applyOne = (operation: Operation) =>
    catchMaybe<Outcome>(
      () => request(pipe, operation),
      (error) => asStoreError(store.name, error),
    )
  const leased: Store = {
    name: store.name,
    apply: (operations) => thenMaybe(readAll(operations, applyOne), throwUnknown),
    ...(store.defaultTimeoutMs && { defaultTimeoutMs: store.defaultTimeoutMs }),
    ...(store.serverOf && { serverOf: store.serverOf.bind(store) }),
    ...(store.onLimitsLost && { onLimitsLost: store.onLimitsLost.bind(store) }),
    async close() {
      await timeout(CLOSING_MS)(returnAll()).catch(reportFailure)
      await store.close?.()
    },
  }
  setLeases(leased, { consume, send, denialTimes: { minMs: holdMs * MIN_DENIAL_SHARE, maxMs: holdMs } })
  return remoteStore(leased)
}

/** Returns outcomes. Throws the first error that leaves open whether an operation was applied. */
function throwUnknown(outcomes: readonly Outcome[]): readonly Outcome[] {
  for (const outcome of outcomes)
    if (outcome instanceof StoreError && !outcome.replied && !outcome.unsent) throw outcome
  return outcomes
}
