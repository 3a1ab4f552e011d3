import type { Policy, State } from '../../policies/policy.js'
import { retry } from '../../util/retry.js'
import type { Operation, Result } from '../operation.js'
import { applyBatch, type Write } from '../shared/apply-batch.js'
import {
  type ApplyToKey,
  failedOutcomes,
  firstOfOnePolicy,
  keyedPolicyOf,
  outcomesOf,
} from '../shared/by-key.js'
import { foreignKeyError, isStateOf } from '../shared/state-codec.js'
import { stateWrite } from '../shared/state-write.js'
import { StoreError } from '../store-error.js'

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
  /** Calls back with whether it wrote, or with the error. A promise would cost more than the decision. */
  swap(swap: Swap<Version>, settle: (isWritten: boolean) => void, fail: (cause: unknown) => void): void
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
  /** Calls back with the results, or `undefined` if the version may no longer be current. */
  function attempt(
    key: string,
    operations: readonly Operation[],
    stored: StoredState<Version> | undefined,
    settle: (results: Results | undefined) => void,
    fail: (cause: unknown) => void,
    isCached = false,
  ): void {
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
    if (write === undefined || (write.state === before && !isForeign)) {
      settle(isCached ? undefined : results)
      return
    }
    const { state, ttlMs } = stateWrite(key, write, nowMs)
    if (state === undefined && stored === undefined) {
      settle(results)
      return
    }
    // A process whose clock is ahead by `aheadMs` may have written the state. `ttlMs` counts from its time, and
    // the database's TTL from now, so the state is kept that much longer.
    const aheadMs = state === undefined ? 0 : Math.ceil(nowMs - clockMs)
    const change = { key, version: stored?.version, state, ttlMs: ttlMs + aheadMs }
    access.swap(change, (isWritten) => settle(isWritten ? results : undefined), fail)
  }

  async function readAndAttempt(key: string, operations: readonly Operation[]): Promise<Results> {
    const run = async () => {
      const stored = await access.read(key)
      return new Promise<Results | undefined>((resolve, reject) =>
        attempt(key, operations, stored, resolve, reject),
      )
    }
    const results = await retry(run, { isFinal: isDone })
    if (results === undefined) throw contentionError(name, key)
    return results
  }

  return keyQueue((key, operations, settle) => {
    const finish = (results: Results) => settle(outcomesOf(name, results))
    const fail = (cause: unknown) => settle(failedOutcomes(name, operations, cause))
    const attemptWithRead = () => void readAndAttempt(key, operations).then(finish, fail)
    const cached = access.cached?.(key)
    if (cached === undefined) attemptWithRead()
    else
      attempt(
        key,
        operations,
        cached,
        (results) => (results ? finish(results) : attemptWithRead()),
        fail,
        true,
      )
  })
}

type Results = readonly (Result | Error)[]

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

interface WaitingCall {
  readonly operations: readonly Operation[]
  readonly settle: Parameters<ApplyToKey>[2]
}

/**
 * Returns a function that runs at most one call of `apply` per key at a time. The operations of calls that
 * wait for a key then run together, as far as they have one policy, so that a process never races itself by
 * compare-and-swap.
 */
export function keyQueue(apply: ApplyToKey): ApplyToKey {
  /** The calls that wait for a key in use; `undefined` while none does. */
  const waiting = new Map<string, WaitingCall[] | undefined>()

  function run(key: string, operations: readonly Operation[], settle: WaitingCall['settle']): void {
    apply(key, operations, (outcomes) => {
      const calls = waiting.get(key)
      if (calls === undefined) waiting.delete(key)
      else runTogether(key, calls)
      settle(outcomes)
    })
  }

  function runTogether(key: string, calls: WaitingCall[]): void {
    const together = firstOfOnePolicy(calls, ({ operations }) => operations[0])
    waiting.set(key, together === calls ? undefined : calls.slice(together.length))
    const all = together.flatMap(({ operations }) => operations)
    run(key, all, (outcomes) => {
      let next = 0
      for (const { operations, settle } of together) {
        settle(outcomes.slice(next, next + operations.length))
        next += operations.length
      }
    })
  }

  return (key, operations, settle) => {
    if (!waiting.has(key)) {
      waiting.set(key, undefined)
      run(key, operations, settle)
      return
    }
    const calls = waiting.get(key)
    if (calls === undefined) waiting.set(key, [{ operations, settle }])
    else calls.push({ operations, settle })
  }
}
