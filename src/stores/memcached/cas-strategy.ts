import { setTimeout as pause } from 'node:timers/promises'
import type { Policy, State } from '../../policies/policy.js'
import { RecentMap } from '../../util/recent-map.js'
import { bytesOf, stateIn } from '../shared/state-codec.js'
import { StoreError } from '../store-error.js'
import { foreignItem, refusal } from './errors.js'
import type { Watch } from './eviction-canary.js'
import { expirationOf } from './expiration.js'
import { askAlone, type Link } from './link.js'
import { type KeyResult, type KeyWork, workOn, workUnwritten } from './operations.js'
import { get, isOurs, lengthOfSwapped, remove, STATUS, swap } from './protocol.js'

/** How often a key that others change at the same time is tried. */
const MAX_ATTEMPTS = 30
/** The most that is waited before another attempt, so that those who race for a key come apart. */
const MAX_JITTER_MS = 8
/** Keys whose last state is remembered, at least. */
const MIN_REMEMBERED = 100_000

/** A state as memcached has it, and the token that tells whether it still has. */
interface Seen {
  readonly state: State | undefined
  readonly cas: bigint | undefined
  /** The connection over which it was written. */
  readonly connection?: number
}

/** Does work on keys of policies that keep one state. */
export interface Swapping {
  run(
    key: string,
    works: readonly KeyWork[],
    policy: Policy,
    now: () => number,
  ): Promise<readonly KeyResult[]>
  forget(key: string): Promise<void>
}

/**
 * Reads a state, decides, and writes only if nobody else has written meanwhile; else tries again, a bounded number of times. What
 * this process wrote last is remembered, so that a key that it alone changes costs one round trip; what that leads to counts
 * only if it was written, which shows that nothing had changed.
 */
export function swapping(
  ask: Link,
  watch: Watch,
  connectionFor: (key: string) => number | undefined,
): Swapping {
  const remembered = new RecentMap<Seen>(MIN_REMEMBERED)

  /** What was written last over the present connection. */
  function recall(key: string): Seen | undefined {
    const seen = remembered.get(key)
    remembered.delete(key)
    return seen?.connection === connectionFor(key) ? seen : undefined
  }

  function remember(key: string, state: State, cas: bigint): void {
    const connection = connectionFor(key)
    if (connection !== undefined) remembered.set(key, { state, cas, connection })
  }

  async function read(key: string): Promise<Seen> {
    const one = get(key)
    const reply = await askAlone(ask, key, one)
    const { status, cas } = reply.header
    if (status === STATUS.notFound) return { state: undefined, cas: undefined }
    if (status !== STATUS.ok) throw refusal(one, reply)
    const state = isOurs(reply.extras) ? stateIn(reply.val) : undefined
    if (state === undefined) throw foreignItem(key)
    return { state, cas: cas.readBigUInt64BE(0) }
  }

  /** Writes where nothing has changed since, and tells whether that was so; or that the server has no room for it. */
  async function write(
    key: string,
    { cas }: Seen,
    state: State | undefined,
    expiration: number,
  ): Promise<boolean | StoreError> {
    const value = state && bytesOf(state)
    if (value) watch(key, key.length + lengthOfSwapped(value))
    const one = value ? swap(key, value, expiration, cas) : remove(key, cas)
    const reply = await askAlone(ask, key, one)
    const { status } = reply.header
    if (status === STATUS.ok) {
      if (state !== undefined) remember(key, state, reply.header.cas.readBigUInt64BE(0))
      return true
    }
    if (status === STATUS.exists || status === STATUS.notFound || status === STATUS.notStored) return false
    if (status === STATUS.noMemory) return refusal(one, reply)
    throw refusal(one, reply)
  }

  async function run(
    key: string,
    works: readonly KeyWork[],
    policy: Policy,
    now: () => number,
  ): Promise<readonly KeyResult[]> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (attempt > 0) await pause(Math.random() * Math.min(attempt, MAX_JITTER_MS))
      const known = recall(key)
      const results = (known && (await attemptOn(known))) ?? (await attemptOn(await read(key), true))
      if (results !== undefined) return results
    }
    const message = `others changed the key ${key} at each of ${MAX_ATTEMPTS} attempts`
    throw new StoreError('memcached', message, {
      cause: new Error('compare-and-swap failed'),
      answered: true,
    })

    /** What came of the work on a state; nothing where it has changed meanwhile, or may have. */
    async function attemptOn(seen: Seen, isRead = false): Promise<readonly KeyResult[] | undefined> {
      const nowMs = now()
      const { results, state } = workOn(seen.state, works, nowMs)
      if (state === seen.state) return isRead ? results : undefined
      const { resetAfterMs } = policy.take(state, nowMs, 0)
      const isWritten = await write(key, seen, state, expirationOf(resetAfterMs, nowMs))
      if (isWritten instanceof StoreError) {
        return isRead ? workUnwritten(seen.state, works, nowMs, isWritten) : undefined
      }
      return isWritten ? results : undefined
    }
  }

  async function forget(key: string): Promise<void> {
    remembered.delete(key)
    const one = remove(key)
    const reply = await askAlone(ask, key, one)
    const { status } = reply.header
    if (status !== STATUS.ok && status !== STATUS.notFound) throw refusal(one, reply)
  }

  return { run, forget }
}
