import {
  type ApplyToKey,
  applyByPromise,
  failedOutcomes,
  type KeyedOperations,
  outcomesOf,
} from '../../pipe/by-key.js'
import type { Policy, State } from '../../policies/policy.js'
import { retry } from '../../util/retry.js'
import type { Outcome, Part } from '../operation.js'
import { applyBatch, type Write } from '../shared/apply-batch.js'
import { foreignKeyError, isStateOf } from '../shared/state-codec.js'
import { type StateWrite, stateWrite } from '../shared/state-write.js'
import { StoreError } from '../store-error.js'
import { decisionTime } from './decision-time.js'
import type { StoredState } from './stored-state.js'

/** A write that must fail if another process has changed the key since it was read. */
export interface Swap<Version> {
  readonly key: string
  /** The version that the key must still have. If it is `undefined`, the key must still be missing. */
  readonly version: Version | undefined
  /** The state to write, an array of finite numbers. If it is `undefined`, the key is removed. */
  readonly state: State | undefined
  /** The policy that reads the state. */
  readonly policy: Policy
  /**
   * How long the database must keep the state, in whole milliseconds or `Infinity`. 0 if the key is removed.
   */
  readonly ttlMs: number
  /**
   * Set if the key must not expire earlier than before. A refund may be of units that were taken under other
   * numbers than those that the state was written under. Keep the key's expiry then, or the later one.
   */
  readonly keepsExpiry?: true
  /** The time at which the operations were decided. */
  readonly nowMs: number
}

/** What the loop needs from a database. */
export interface SwapAccess<Version> {
  read(key: string): Promise<StoredState<Version> | undefined>
  /** Calls back with whether it wrote, or with the error. A promise would cost more than the decision. */
  swap(swap: Swap<Version>, settle: (isWritten: boolean) => void, fail: (cause: unknown) => void): void
  /** The time of this process, in ms since the Unix epoch. */
  now(): number
  /** Returns what this process wrote last, from a cache. Another process may have changed it. */
  cached?(key: string): StoredState<Version> | undefined
  /**
   * Applies operations in one request, without a read. Resolves with `undefined`, and changes nothing, if
   * the operations or the stored value do not allow that.
   */
  applyUnread?(keyed: KeyedOperations): Promise<readonly Outcome[] | undefined>
  /** Returns whether a request failed without a change, and may succeed later. Default: never. */
  isTemporary?(error: unknown): boolean
}

/**
 * Returns the compare-and-swap loop. It reads a state, applies the operations, and writes if no other
 * process has written since. Otherwise it retries with backoff for up to two seconds. Then its operations
 * fail with a `StoreError`. The bound is exactly the policy's, if the clocks of the processes are less than
 * a second apart.
 */
export function swapLoop<Version>(name: string, access: SwapAccess<Version>): ApplyToKey {
  /**
   * Applies operations to what is stored. Calls `onConflict` if another process may have changed the key. A
   * result from the cache counts only if its write succeeds, which proves that the cached version was
   * current.
   */
  function attempt(
    keyed: KeyedOperations,
    stored: StoredState<Version> | undefined,
    isCached: boolean,
    settle: (outcomes: readonly Outcome[]) => void,
    onConflict: () => void,
    fail: (cause: unknown) => void,
  ): void {
    const { key, policy } = keyed
    const before = isStateOf(policy, stored?.state) ? stored.state : undefined
    const clockMs = access.now()
    const nowMs = decisionTime(policy, before, clockMs)
    const isForeign = stored?.state !== undefined && before === undefined
    const { outcomes, write } = applyToState(name, keyed, before, isForeign, nowMs)
    if (write === undefined || (write.state === undefined && stored === undefined)) {
      if (isCached) onConflict()
      else settle(outcomes)
      return
    }
    const { state, ttlMs, keepsExpiry } = write
    // A process whose clock is ahead by `aheadMs` may have written the state. `ttlMs` counts from its time,
    // and the database's TTL from now, so the state is kept that much longer.
    const aheadMs = state === undefined ? 0 : Math.ceil(nowMs - clockMs)
    const change = { key, version: stored?.version, state, policy, ttlMs: ttlMs + aheadMs, nowMs }
    const swap = keepsExpiry && state ? { ...change, keepsExpiry } : change
    access.swap(swap, (isWritten) => (isWritten ? settle(outcomes) : onConflict()), fail)
  }

  async function readAndAttempt(keyed: KeyedOperations): Promise<readonly Outcome[] | undefined> {
    const stored = await access.read(keyed.key)
    return new Promise((resolve, reject) =>
      attempt(keyed, stored, false, resolve, () => resolve(undefined), reject),
    )
  }

  const applyWithRead = applyByPromise(name, async (keyed) => {
    const outcomes = await retry(async () => (await access.applyUnread?.(keyed)) ?? readAndAttempt(keyed), {
      isFinal: (done) => done !== undefined,
      isTemporary: access.isTemporary,
    })
    if (outcomes === undefined) throw contentionError(name, keyed.key)
    return outcomes
  })

  return function applyToKey(keyed, settle) {
    const cached = access.cached?.(keyed.key)
    const readAndApply = () => applyWithRead(keyed, settle)
    const fail = (cause: unknown) => settle(failedOutcomes(name, keyed, cause))
    try {
      if (cached === undefined) readAndApply()
      else attempt(keyed, cached, true, settle, readAndApply, fail)
    } catch (cause) {
      fail(cause) // a user's own policy may throw
    }
  }
}

/** The outcomes of operations on a key, and what to write. `write` is absent if nothing changes. */
interface Applied {
  readonly outcomes: readonly Outcome[]
  readonly write?: StateWrite | undefined
}

/** Applies operations to the state of their key. */
export function applyToState(
  name: string,
  { key, operations }: KeyedOperations,
  before: State | undefined,
  isForeign: boolean,
  nowMs: number,
): Applied {
  const [only] = operations
  if (!isForeign && operations.length === 1 && only?.type === 'charge' && only.parts.length === 1) {
    const [{ policy, cost }] = only.parts as readonly [Part] // the usual case, which needs no maps
    const step = policy.take(before, nowMs, cost)
    if (step.allowed) {
      const { next: state, resetAfterMs } = step
      const outcomes: Outcome[] = [{ type: 'charge', allowed: true, atMs: nowMs, parts: [step] }]
      return { outcomes, write: state && stateWrite(key, { policy, state, resetAfterMs }, nowMs) }
    }
  }
  const read = () => {
    if (isForeign) throw foreignKeyError(name, key)
    return before
  }
  const { results, writes } = applyBatch(operations, read, nowMs)
  const outcomes = outcomesOf(name, results)
  const write: Write | undefined = writes.values().next().value // all operations are of one key
  if (write === undefined || (write.state === before && !isForeign)) return { outcomes }
  return { outcomes, write: stateWrite(key, write, nowMs) }
}

/** Returns the error for a key that other processes changed during every attempt to write it. */
export function contentionError(store: string, key: string): StoreError {
  return new StoreError(store, `other processes changed the key ${key} during every attempt`, {
    replied: true,
    unsent: true,
  })
}
