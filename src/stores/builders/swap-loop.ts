import type { Policy, State } from '../../policies/policy.js'
import { retry } from '../../util/retry.js'
import type { Operation, Outcome, Result } from '../operation.js'
import { applyBatch, type Write } from '../shared/apply-batch.js'
import { type ApplyToKey, keyedPolicyOf } from '../shared/shards.js'
import { foreignKeyError, isStateOf } from '../shared/state-codec.js'
import { stateWrite } from '../shared/state-write.js'
import { asStoreError, StoreError } from '../store-error.js'

/** A state in a database, with its version. Each write must change the version. */
export interface StoredState<Version> {
  /** What `swap` wrote. If it is anything else, the operations on the key fail. */
  readonly state: unknown
  readonly version: Version
}

/** A write that must fail if another process has changed the key since it was read. */
export interface Swap<Version> {
  readonly key: string
  /** The version that the key must still have. If it is `undefined`, the key must still be missing. */
  readonly version: Version | undefined
  /** The state to write, an array of finite numbers. If it is `undefined`, the key is removed. */
  readonly state: State | undefined
  /**
   * How long the database must keep the state, in whole milliseconds or `Infinity`. 0 if the key is removed.
   */
  readonly ttlMs: number
}

/** What the loop needs from a database. */
export interface SwapAccess<Version> {
  read(key: string): Promise<StoredState<Version> | undefined>
  /** Returns whether it wrote. */
  swap(swap: Swap<Version>): Promise<boolean>
  /** The time of this process, in ms since the Unix epoch. */
  now(): number
  /** Returns what this process wrote last, from a cache. Another process may have changed it. */
  cached?(key: string): StoredState<Version> | undefined
}

/**
 * Returns the compare-and-swap loop. It reads a state, applies the operations, and writes if no other
 * process has written since. Otherwise it retries with backoff for up to two seconds. Then its operations
 * fail with a `StoreError`. The bound is exactly the policy's, if the clocks of the processes are less than
 * a second apart.
 *
 * Operations on a key that arrive meanwhile wait and then run together, so a process never competes with
 * itself. A result from the cache counts only if its write succeeds, which proves that the cached version
 * was current.
 */
export function swapLoop<Version>(name: string, access: SwapAccess<Version>): ApplyToKey {
  /** Returns the results; `undefined` if the version may no longer be current. */
  async function attempt(
    key: string,
    operations: readonly Operation[],
    stored: StoredState<Version> | undefined,
    isCached = false,
  ): Promise<readonly (Result | Error)[] | undefined> {
    const { policy } = keyedPolicyOf(operations[0])
    const before = isStateOf(policy, stored?.state) ? stored.state : undefined
    const clockMs = access.now()
    const nowMs = isAhead(policy, before, clockMs) ? timeFor(policy, before, clockMs) : clockMs
    const isForeign = stored !== undefined && before === undefined
    const read = () => {
      if (isForeign) throw foreignKeyError(name, key)
      return before
    }
    const { results, writes } = applyBatch(operations, read, nowMs)
    const write: Write | undefined = writes.values().next().value // all operations are of one key
    if (write === undefined || (write.state === before && !isForeign)) return isCached ? undefined : results
    const { state, ttlMs } = stateWrite(key, write, nowMs)
    if (state === undefined && stored === undefined) return results
    // A process whose clock is ahead by `aheadMs` may have written the state. `ttlMs` counts from its time, and
    // the database's TTL from now, so the state is kept that much longer.
    const aheadMs = state === undefined ? 0 : Math.ceil(nowMs - clockMs)
    const isWritten = await access.swap({ key, version: stored?.version, state, ttlMs: ttlMs + aheadMs })
    return isWritten ? results : undefined
  }

  return keyQueue(async (key, operations) => {
    try {
      const cached = access.cached?.(key)
      const results =
        (cached && (await attempt(key, operations, cached, true))) ??
        (await retry(async () => attempt(key, operations, await access.read(key)), { isFinal: isDone }))
      if (results === undefined) throw contentionError(name, key)
      const outcomes: Outcome[] = []
      for (const result of results)
        outcomes.push(result instanceof Error ? asStoreError(name, result) : result)
      return outcomes
    } catch (cause) {
      const error = asStoreError(name, cause)
      return operations.map(() => error)
    }
  })
}

const isDone = (results: unknown) => results !== undefined

/** Returns the error for a key that other processes changed during every attempt to write it. */
export function contentionError(store: string, key: string): StoreError {
  return new StoreError(store, `other processes changed the key ${key} during every attempt`, {
    replied: true,
  })
}

/** How far the clocks of two processes may be apart for a state to keep to the one that is ahead. */
const MAX_SKEW_MS = 1000

/** Returns whether only a clock ahead of this one can have written a state. */
function isAhead(policy: Policy, state: State | undefined, clockMs: number): boolean {
  return policy.clampToNow(state, clockMs) !== state
}

/**
 * Returns the time at which to read a state that its policy clamps by this process's clock. If a process
 * whose clock is slightly ahead wrote the state, it is the earliest time at which the policy does not clamp
 * it: otherwise the two processes would keep freeing each other's units while both write. A state from
 * further ahead is clamped: its clock was wrong.
 */
function timeFor(policy: Policy, state: State | undefined, nowMs: number): number {
  const isPossible = (aheadMs: number) => policy.clampToNow(state, nowMs + aheadMs) === state
  if (!isPossible(MAX_SKEW_MS)) return nowMs
  let [tooEarly, possible] = [0, MAX_SKEW_MS] // whole numbers, so that the search ends whatever the clock shows
  while (possible - tooEarly > 1) {
    const middle = Math.floor((tooEarly + possible) / 2)
    if (isPossible(middle)) possible = middle
    else tooEarly = middle
  }
  return nowMs + possible
}

/** Applies operations on one key, in order. Returns a result for each. */
type RunKey<T> = (key: string, operations: readonly Operation[]) => Promise<readonly T[]>

interface Call<T> {
  readonly operations: readonly Operation[]
  resolve(results: readonly T[]): void
  reject(reason: unknown): void
}

/**
 * Creates a function that calls `run` with at most one call per key at a time. The operations of calls that
 * wait for a key then run together, so that a process never races itself by compare-and-swap.
 */
export function keyQueue<T>(run: RunKey<T>): RunKey<T> {
  /** The calls that wait for a key in use; `undefined` while none does. */
  const waiting = new Map<string, Call<T>[] | undefined>()

  function wait(key: string, operations: readonly Operation[]): Promise<readonly T[]> {
    return new Promise((resolve, reject) => {
      const calls = waiting.get(key)
      const call = { operations, resolve, reject }
      if (calls === undefined) waiting.set(key, [call])
      else calls.push(call)
    })
  }

  async function runWaiting(key: string): Promise<void> {
    for (let calls = waiting.get(key); calls !== undefined; calls = waiting.get(key)) {
      waiting.set(key, undefined)
      try {
        const results = [
          ...(await run(
            key,
            calls.flatMap(({ operations }) => operations),
          )),
        ]
        for (const { operations, resolve } of calls) resolve(results.splice(0, operations.length))
      } catch (reason) {
        for (const { reject } of calls) reject(reason)
      }
    }
    waiting.delete(key)
  }

  return async (key, operations) => {
    if (waiting.has(key)) return wait(key, operations)
    waiting.set(key, undefined)
    try {
      return await run(key, operations)
    } finally {
      if (waiting.get(key) === undefined) waiting.delete(key)
      else runWaiting(key)
    }
  }
}
