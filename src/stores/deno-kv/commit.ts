import type { State } from '../../policies/policy.js'
import type { OptimisticTransaction } from '../builders/optimistic-attempt.js'
import type { StoredState } from '../builders/stored-state.js'
import { StoreError } from '../store-error.js'
import type { DenoKv, KvAtomic, KvEntry, KvKey } from './client.js'

/**
 * The value under a key: a state, and the last commits that wrote the key, the newest at the end. The state
 * is empty if it was removed. A commit replaces those of its process that have ended, so each process is
 * usually named once.
 */
interface KvState {
  readonly state: State
  readonly commits: readonly number[]
  /** When the state may be removed, in ms since the Unix epoch; absent if never. Deno KV does not say. */
  readonly expires?: number
}

/** The version of a key, the last commits that wrote the key, and when its state may be removed. */
export interface KvVersion {
  readonly stamp: string
  readonly commits: readonly number[]
  readonly expiresAtMs: number
}

/** The most commits that a value names. */
const COMMITS = 16
/** The number of a commit is that of its process, followed by that of the commit in the process. */
const COMMITS_PER_PROCESS = 2 ** 16
/** A transaction has at most 819,200 bytes, and a number takes up to nine. Any single state fits. */
const MAX_NUMBERS = 80_000
/** How much longer than needed a value is kept. A removed state leaves a value that names its commits. */
const MARGIN_MS = 60_000
/** The longest expiry that Deno KV accepts: about 30,000 years. */
const MAX_EXPIRY_MS = 1e15
/** If a commit took longer, its values may have expired, so nothing would show that it was applied. */
const MAX_COMMIT_MS = MARGIN_MS / 2

/** Returns the state under a key with its version, or `undefined` if the key is missing. */
export function storedIn({ value, versionstamp: stamp }: KvEntry): StoredState<KvVersion> | undefined {
  if (stamp === null) return undefined
  if (!isKvState(value)) return { state: null, version: { stamp, commits: [], expiresAtMs: 0 } }
  const { state, commits, expires: expiresAtMs = Number.POSITIVE_INFINITY } = value
  return { state: state.length === 0 ? undefined : state, version: { stamp, commits, expiresAtMs } }
}

function isKvState(value: unknown): value is KvState {
  const { state, commits }: Partial<KvState> = value ?? {}
  return Array.isArray(state) && Array.isArray(commits)
}

/**
 * Returns a copy in which V8 serializes each number as nine bytes. V8 treats an array that was read as one
 * that may have holes, and adds an index of two to four bytes to each number. Spreading and slicing keep
 * that trait.
 */
const packed = (numbers: readonly number[]): State => numbers.map((each) => each)

/**
 * Returns the `commit` of the store. Deno's client for a remote KV resends a commit whose reply was lost. If
 * the commit had been applied, its checks fail the second time. So each value names the last commits that
 * wrote it, and a commit whose checks failed looks for its own number there.
 */
export function kvCommit(kv: DenoKv, kvKey: (key: string) => KvKey) {
  const pending = new Set<number>()
  let processNumber = 0
  let count = 0

  /** Returns a number that no commit has had. Draws another process number when one is used up. */
  function nextId(): number {
    const index = count++ % COMMITS_PER_PROCESS
    if (index === 0) processNumber = Math.floor(Math.random() * 2 ** 32)
    return processNumber * COMMITS_PER_PROCESS + index
  }

  /** Returns whether this process sent the commit and knows its outcome, so no value needs to name it. */
  const hasEnded = (id: number) => Math.floor(id / COMMITS_PER_PROCESS) === processNumber && !pending.has(id)

  function transactionOf({ checks, writes }: OptimisticTransaction<KvVersion>, id: number): KvAtomic {
    const versions = new Map(checks.map(({ key, version }) => [key, version]))
    const atomic = kv.atomic()
    for (const [key, version] of versions)
      atomic.check({ key: kvKey(key), versionstamp: version?.stamp ?? null })
    const nowMs = Date.now()
    for (const { key, state = [], ttlMs, keepsExpiry } of writes) {
      const version = versions.get(key)
      const others = (version?.commits ?? []).filter((each) => !hasEnded(each))
      const commits = [...others, id].slice(-COMMITS)
      const keptMs = keepsExpiry && version ? version.expiresAtMs - nowMs : 0
      const lastsMs = Math.max(ttlMs, keptMs)
      const value: KvState = { state: packed(state), commits }
      if (lastsMs + MARGIN_MS < MAX_EXPIRY_MS)
        atomic.set(kvKey(key), { ...value, expires: nowMs + lastsMs }, { expireIn: lastsMs + MARGIN_MS })
      else atomic.set(kvKey(key), value, {})
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
    // Commits are named in their order, so none that followed one that is still named was pushed out.
    const namesAllSince =
      commits.length < COMMITS || before?.commits.some((earlier) => commits.includes(earlier))
    if (versionstamp !== null && namesAllSince) return false
    throw new StoreError(
      'deno-kv',
      'other processes changed a key, so it is unknown whether a commit was applied',
    )
  }

  return async function commit(transaction: OptimisticTransaction<KvVersion>): Promise<boolean> {
    const { writes } = transaction
    const numbers = writes.reduce((sum, { state = [] }) => sum + state.length + COMMITS, 0)
    if (numbers > MAX_NUMBERS && writes.length > 1) return false // split
    const id = nextId()
    pending.add(id)
    try {
      const sentAtMs = performance.now()
      const { ok } = await transactionOf(transaction, id).commit()
      if (ok) return true
      if (performance.now() - sentAtMs > MAX_COMMIT_MS)
        throw new StoreError('deno-kv', 'a commit took more than half a minute, and may have been applied')
      return await wasApplied(transaction, id)
    } finally {
      pending.delete(id)
    }
  }
}
