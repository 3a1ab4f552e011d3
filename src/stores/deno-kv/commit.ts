import type { State } from '../../policies/policy.js'
import type { OptimisticTransaction } from '../builders/optimistic-attempt.js'
import type { StoredState } from '../builders/stored-state.js'
import { StoreError } from '../store-error.js'
import type { DenoKv, KvAtomic, KvEntry, KvKey } from './client.js'

/**
 * What the store writes under a key: a state, empty if it was removed, and the last commits that wrote the
 * key, the newest at the end.
 */
interface KvState {
  readonly state: State
  readonly commits: readonly number[]
}

/** The version of a key, with the last commits that wrote it. */
export interface KvVersion {
  readonly stamp: string
  readonly commits: readonly number[]
}

/** How many commits a key names. */
const COMMITS = 16
/** Deno KV takes 819,200 bytes in one transaction. A number takes at most nine. A state fits by itself. */
const MAX_NUMBERS = 80_000
/** A value is kept for a minute longer than needed, and so is what remains of a removed one. */
const MARGIN_MS = 60_000
/** Longer than this, Deno KV takes no expiry: some 30,000 years. */
const MAX_EXPIRY_MS = 1e15
/** A commit that took longer may have been applied, and its values may have expired. */
const MAX_COMMIT_MS = MARGIN_MS / 2

/** Returns what a key holds; `undefined` if it is missing. */
export function storedIn({ value, versionstamp: stamp }: KvEntry): StoredState<KvVersion> | undefined {
  if (stamp === null) return undefined
  if (!isKvState(value)) return { state: null, version: { stamp, commits: [] } }
  const { state, commits } = value
  return { state: state.length === 0 ? undefined : state, version: { stamp, commits } }
}

function isKvState(value: unknown): value is KvState {
  const { state, commits }: Partial<KvState> = value ?? {}
  return Array.isArray(state) && Array.isArray(commits)
}

/**
 * Returns the `commit` of the store. Deno's client for a KV elsewhere sends a commit again if its reply was
 * lost, and a commit that had been applied then fails its checks. So each value names the last commits that
 * wrote it, and a commit whose checks failed looks for itself there.
 */
export function kvCommit(kv: DenoKv, kvKey: (key: string) => KvKey) {
  function transactionOf({ checks, writes }: OptimisticTransaction<KvVersion>, id: number): KvAtomic {
    const versions = new Map(checks.map(({ key, version }) => [key, version]))
    const atomic = kv.atomic()
    for (const [key, version] of versions)
      atomic.check({ key: kvKey(key), versionstamp: version?.stamp ?? null })
    for (const { key, state = [], ttlMs } of writes) {
      const commits = [...(versions.get(key)?.commits ?? []), id].slice(-COMMITS)
      const expireIn = ttlMs + MARGIN_MS
      const expiry = expireIn < MAX_EXPIRY_MS ? { expireIn } : {}
      atomic.set(kvKey(key), { state, commits } satisfies KvState, expiry)
    }
    return atomic
  }

  /** Returns whether a commit whose checks failed had been applied. */
  async function wasApplied(
    { checks, writes: [write] }: OptimisticTransaction<KvVersion>,
    id: number,
  ): Promise<boolean> {
    const key = write?.key ?? ''
    const before = checks.find((check) => check.key === key)?.version
    const { value, versionstamp } = await kv.get(kvKey(key))
    if (versionstamp === (before?.stamp ?? null)) return false // another key has changed
    const { commits = [] } = isKvState(value) ? value : {}
    if (commits.includes(id)) return true
    const last = before?.commits.at(-1)
    const namesAllSince = last === undefined ? commits.length < COMMITS : commits.includes(last)
    if (versionstamp !== null && namesAllSince) return false
    throw new StoreError('deno-kv', 'a commit met others, and may have been applied before them')
  }

  return async function commit(transaction: OptimisticTransaction<KvVersion>): Promise<boolean> {
    const { writes } = transaction
    const numbers = writes.reduce((sum, { state = [] }) => sum + state.length + COMMITS, 0)
    if (numbers > MAX_NUMBERS && writes.length > 1) return false // split
    const id = Math.floor(Math.random() * 2 ** 48)
    const sentAtMs = performance.now()
    const { ok } = await transactionOf(transaction, id).commit()
    if (ok) return true
    if (performance.now() - sentAtMs > MAX_COMMIT_MS)
      throw new StoreError('deno-kv', 'a commit took half a minute, and may have been applied')
    return wasApplied(transaction, id)
  }
}
