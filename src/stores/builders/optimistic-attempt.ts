import type { MaybePromise } from '../../util/maybe-promise.js'
import { show } from '../../util/validate.js'
import { keysOf, type Operation, type Result } from '../operation.js'
import { isStateOf } from '../shared/state-codec.js'
import type { StateWrite } from '../shared/state-write.js'
import { checkTime } from '../shared/validate.js'
import { decideBatch, type LockedStates } from './decide-batch.js'
import { decisionTime } from './decision-time.js'
import { checkedRead, type ReadStored } from './stored-state.js'

/** Writes that a database must make in one atomic step, if all checks hold. */
export interface OptimisticTransaction<Version> {
  /** Keys that must still have the version that was read. If it is `undefined`, the key must be missing. */
  readonly checks: readonly { readonly key: string; readonly version: Version | undefined }[]
  /** States to write. A key whose `state` is `undefined` is removed. Each key is among the checks. */
  readonly writes: readonly StateWrite[]
}

/** What an attempt needs from a database. */
export interface OptimisticDatabase<Version> {
  readonly name: string
  /**
   * Returns what the database holds under each key, in order. That is the state with its version, or
   * `undefined` if the key is missing or has expired. For a key that cannot be read, it is a `StoreError`.
   * The keys are distinct. The values may have been read at different times.
   */
  readonly read: ReadStored<Version>
  /**
   * Writes all states, if all checks hold, in one atomic step. Returns whether it did. If it throws, the
   * operations fail, and may have been applied. For a transaction that is too large, it may return `false`,
   * so that the operations are committed in smaller parts.
   */
  commit(transaction: OptimisticTransaction<Version>): MaybePromise<boolean>
  /**
   * Returns the time in milliseconds since the Unix epoch, by one clock for all processes. Default:
   * `Date.now`.
   */
  clock(): number
  /** Returns the key for the database, such as a hash of one that is too long. Default: the same key. */
  storageKey(key: string): string
}

/** The states of keys with their versions, and the time at which to decide on them. */
interface Snapshot<Version> extends LockedStates {
  readonly versions: ReadonlyMap<string, Version>
  /** How far that time is ahead of this process's clock, in whole milliseconds. */
  readonly aheadMs: number
}

/**
 * Returns a function that makes one attempt: it reads the keys of some operations, applies the operations,
 * and commits. It resolves with their results, or with `undefined` if the commit wrote nothing. An attempt
 * that changes nothing, such as a denial, commits nothing.
 */
export function optimisticAttempt<Version>(database: OptimisticDatabase<Version>) {
  const { name, storageKey, clock } = database
  const read = checkedRead(database.read)

  async function readSnapshot(operations: readonly Operation[]): Promise<Snapshot<Version>> {
    const keyed = operations.flatMap(keysOf).map(({ key, policy }) => ({ key: storageKey(key), policy }))
    const keys = [...new Set(keyed.map(({ key }) => key))].sort()
    const stored = keys.length === 0 ? [] : await read(keys)
    const states = new Map<string, unknown>()
    const versions = new Map<string, Version>()
    for (const [i, key] of keys.entries()) {
      const found = stored[i] ?? undefined
      if (found === undefined) continue
      if (!(found instanceof Error)) versions.set(key, found.version)
      const state = found instanceof Error ? found : found.state
      if (state !== undefined) states.set(key, state)
    }
    const clockMs = clock()
    checkTime('clock', clockMs)
    let nowMs = clockMs
    for (const { key, policy } of keyed) {
      const state = states.get(key)
      if (isStateOf(policy, state)) nowMs = Math.max(nowMs, decisionTime(policy, state, clockMs))
    }
    return { states, versions, nowMs, aheadMs: Math.ceil(nowMs - clockMs) }
  }

  /**
   * Returns the keys to check: those that are written, and all other keys of the charges that write them.
   */
  function keysToCheck(operations: readonly Operation[], written: ReadonlySet<string>): Set<string> {
    const checked = new Set(written)
    for (const operation of operations) {
      const keys = keysOf(operation).map(({ key }) => storageKey(key))
      if (keys.some((key) => written.has(key))) for (const key of keys) checked.add(key)
    }
    return checked
  }

  return async function attempt(
    operations: readonly Operation[],
  ): Promise<readonly (Result | Error)[] | undefined> {
    const snapshot = await readSnapshot(operations)
    const { results, writes } = decideBatch(name, operations, snapshot, storageKey)
    if (writes.length === 0) return results
    const checked = keysToCheck(operations, new Set(writes.map(({ key }) => key)))
    const isWritten: unknown = await database.commit({
      checks: Array.from(checked, (key) => ({ key, version: snapshot.versions.get(key) })),
      // The database counts a TTL from now. A state from ahead of the clock must be kept that much longer.
      writes: writes.map(({ key, state, ttlMs, keepsExpiry }) => ({
        key,
        state,
        ttlMs: state ? ttlMs + snapshot.aheadMs : 0,
        ...(keepsExpiry && { keepsExpiry }),
      })),
    })
    if (typeof isWritten === 'boolean') return isWritten ? results : undefined
    throw new TypeError(`commit must return true if it wrote, and false if not, got ${show(isWritten)}`)
  }
}
