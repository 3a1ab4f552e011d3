import type { State } from '../../policies/policy.js'
import type { Write } from './apply-batch.js'

/** A state for a store to write. */
export interface StateWrite {
  readonly key: string
  /** The state that replaces the key's. If it is `undefined`, the key is removed. */
  readonly state: State | undefined
  /** How long the state has to be kept, in whole milliseconds or `Infinity`. 0 only if the key is removed. */
  readonly ttlMs: number
  /**
   * Set if the key must not expire earlier than before. A refund may be of units that were taken under other
   * numbers than those that the state was written under. Keep the key's expiry then, or the later one.
   */
  readonly keepsExpiry?: true
}

/** Returns what to write for a key. A state that is fresh by now is removed, unless a refund wrote it. */
export function stateWrite(key: string, write: Write, nowMs: number): StateWrite {
  const { policy, state, resetAfterMs, keepsExpiry } = write
  if (state === undefined) return { key, state, ttlMs: 0 }
  const ttlMs = Math.ceil(resetAfterMs ?? policy.take(state, nowMs, 0).resetAfterMs)
  if (keepsExpiry) return { key, state, ttlMs: Math.max(1, ttlMs), keepsExpiry }
  return { key, state: ttlMs === 0 ? undefined : state, ttlMs }
}
