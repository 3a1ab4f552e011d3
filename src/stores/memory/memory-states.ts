import { type Policy, type State, signatureOf } from '../../policies/policy.js'
import { RecentMap } from '../../util/recent-map.js'
import { warnOnce } from '../../util/warn-once.js'
import type { StoredDocument } from '../documents.js'
import type { KeyedPolicy, Part } from '../operation.js'
import type { Evaluation } from '../shared/apply-batch.js'
import { StateTable } from './state-table.js'

/** The prefix of an overflow bucket's key. No client's key begins with NUL. */
const PREFIX = '\0overflow:'
/** How many overflow buckets are kept at least. Only policies created per request need more. */
const MIN_BUCKETS = 1000

/**
 * The states of a memory store: a table of keys, and overflow buckets, one for each limit, which keys without
 * room share. Also its documents.
 */
export class MemoryStates {
  table: StateTable
  readonly overflow = new RecentMap<State>(MIN_BUCKETS)
  documents = new Map<string, StoredDocument>()

  constructor(...table: ConstructorParameters<typeof StateTable>) {
    this.table = new StateTable(...table)
  }

  /** Returns the state of a key; that of an overflow bucket is then the most recently used one. */
  read(key: string, policy: Policy): State | undefined {
    if (!key.startsWith(PREFIX)) return this.table.read(key, policy)
    const state = this.overflow.get(key)
    if (state !== undefined) this.overflow.set(key, state)
    return state
  }

  write(writes: Evaluation['writes'], nowMs: number): void {
    for (const [key, { policy, state }] of writes) {
      if (key.startsWith(PREFIX)) this.overflow.set(key, state)
      else this.table.put(key, policy, state, nowMs)
    }
  }
}

/** Returns the key of the overflow bucket of a limit, whose keys are all equal up to the brace. */
export function overflowKey({ key, policy }: KeyedPolicy): string {
  return `${PREFIX}${key.slice(0, Math.max(0, key.indexOf('{')))}${signatureOf(policy)}`
}

/** Returns a charge whose new keys share the overflow buckets of their limits. Warns the operator, once. */
export function redirectToOverflow(
  parts: readonly Part[],
  newKeys: ReadonlySet<string>,
  maxKeys: number,
): readonly Part[] {
  warnOnce(
    'HEADGATE_MEMORY_FULL',
    `headgate: the memory store holds maxKeys (${maxKeys}) clients, all of them in use, so new clients share one limit. ` +
      'Raise maxKeys, or use a shared store. If one client can use many keys, add a limit by IP address.',
  )
  return parts.map((part) => (newKeys.has(part.key) ? { ...part, key: overflowKey(part) } : part))
}
