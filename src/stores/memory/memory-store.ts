import { performance } from 'node:perf_hooks' // the global one is a getter, as slow as the clock itself
import { callback, readOptions, withDefault } from '../../options/option-table.js'
import { type Policy, type State, signatureOf } from '../../policies/policy.js'
import { RecentMap } from '../../util/recent-map.js'
import { show, whole } from '../../util/validate.js'
import { warnOnce } from '../../util/warn-once.js'
import { evaluateCharge, type Outcome, type Read } from '../shared/evaluate-charge.js'
import type { Charge, KeyedPolicy, Part, Refund, Store, Verdict } from '../store.js'
import { StateTable } from './state-table.js'

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** The most keys stored at once. Default 1,000,000. */
  maxKeys?: number
  /** Milliseconds since the Unix epoch, for simulations and tests. Default: a clock that never steps. */
  clock?: () => number
}

/** A store in this process: synchronous, exact, bounded. */
export interface MemoryStore extends Store {
  readonly name: 'memory'
  charge(charges: readonly Charge[]): readonly Verdict[]
  refund(refunds: readonly Refund[]): void
  forget(keys: readonly KeyedPolicy[]): void
  /** How many keys are stored. */
  readonly size: number
}

const OPTIONS = {
  rows: { maxKeys: withDefault(1_000_000, whole(1, 100_000_000)), clock: callback<() => number> },
  fixes: { max: 'maxKeys', size: 'maxKeys' },
}

const ORIGIN_MS = performance.timeOrigin // read once: it is a slow getter

/** Returns the system clock at process start plus the monotonic time since: it never steps. */
function monotonicNow(): number {
  return ORIGIN_MS + performance.now()
}

/** Throws where a user's clock returns nonsense, which would leave states that deny forever. */
function validateClock(clock: () => number): () => number {
  return () => {
    const nowMs = clock()
    if (Number.isFinite(nowMs)) return nowMs
    throw new TypeError(`memoryStore: clock must return milliseconds, got ${show(nowMs)}.`)
  }
}

/** Marks memory stores, including those of another copy of this package. Its value is the store itself. */
const MEMORY_STORE = Symbol.for('headgate.memoryStore')

/**
 * Returns whether this is a memory store: synchronous, and unable to fail, so that it needs no protection.
 * An object that inherits from one or wraps one is not.
 */
export function isMemoryStore(store: Store): store is MemoryStore {
  return (store as { [MEMORY_STORE]?: Store })[MEMORY_STORE] === store
}

/** The prefix of an overflow bucket's key. No client's key begins with NUL. */
const OVERFLOW = '\0overflow:'
/** How many overflow buckets are kept at least. Only policies created per request need more. */
const OVERFLOW_BUCKETS = 1000

/** Returns the key of the overflow bucket of a limit, whose keys are all equal up to the brace. */
function overflowKey({ key, policy }: KeyedPolicy): string {
  return `${OVERFLOW}${key.slice(0, Math.max(0, key.indexOf('{')))}${signatureOf(policy)}`
}

/** One sweep per this many charges, so that fresh states are removed even if no new keys arrive. */
const CHARGES_PER_SWEEP = 16

/**
 * Creates a store in this process's memory: for one process, for tests, and as a local fallback.
 *
 * - A decision is one synchronous step, without a promise. There are no timers.
 * - States lie in typed arrays under 64-bit hashes of their keys; the keys themselves are not kept. A token
 *   bucket takes 25 to 50 bytes. Memory grows and shrinks page by page, without a pause. Each store hashes
 *   under a random secret, so that nobody can aim at another client's state; the odds that any two of ten
 *   million keys collide are one in 370,000.
 * - At most `maxKeys` keys. Fresh states are removed first. When all are in use, the one nearest to fresh,
 *   among up to 32 examined, is evicted; never a client at its limit. When there is no other, new keys share
 *   one overflow bucket per limit, which the process warning `HEADGATE_MEMORY_FULL` reports once.
 *
 * Throws a `TypeError` for wrong options.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { maxKeys, clock } = readOptions('memoryStore', options, OPTIONS)
  const now = clock === undefined ? monotonicNow : validateClock(clock)
  const table = new StateTable(maxKeys)
  const overflow = new RecentMap<State>(OVERFLOW_BUCKETS)
  let charged = 0

  function decide(charge: Charge, nowMs: number): Verdict {
    if (++charged % CHARGES_PER_SWEEP === 0) table.sweep(nowMs)
    const only = charge[0]
    return charge.length === 1 && only !== undefined ? decideOne(only, nowMs) : decideMany(charge, nowMs)
  }

  function decideOne(part: Part, nowMs: number): Verdict {
    const { key, policy, cost } = part
    const isStored = table.seek(key, policy)
    const step = policy.take(isStored ? table.read() : undefined, nowMs, cost)
    if (step.next !== undefined) {
      if (isStored) table.write(step.next)
      else if (table.makeRoom(nowMs, 1)) table.add(policy, step.next)
      else return decideInOverflow([part], new Set([key]), nowMs)
    }
    return { allowed: step.allowed, atMs: nowMs, parts: [step] }
  }

  function decideMany(charge: Charge, nowMs: number): Verdict {
    const newKeys = new Set<string>()
    const readAndNote: Read = (key, policy) => {
      const state = read(key, policy)
      if (state === undefined) newKeys.add(key)
      return state
    }
    const { verdict, writes } = evaluateCharge(charge, readAndNote, nowMs)
    for (const key of newKeys) if (!writes.has(key)) newKeys.delete(key)
    if (newKeys.size > 0) {
      const keys = charge.map(({ key }) => key)
      if (!table.makeRoom(nowMs, newKeys.size, keys)) return decideInOverflow(charge, newKeys, nowMs)
    }
    write(writes)
    return verdict
  }

  /** Decides a charge whose new keys have no room, and share the overflow buckets of their limits. */
  function decideInOverflow(charge: Charge, newKeys: ReadonlySet<string>, nowMs: number): Verdict {
    const redirected = charge.map((part) => {
      return newKeys.has(part.key) ? { ...part, key: overflowKey(part) } : part
    })
    const { verdict, writes } = evaluateCharge(redirected, read, nowMs)
    write(writes)
    warnOnce(
      'HEADGATE_MEMORY_FULL',
      `headgate: the memory store holds maxKeys (${maxKeys}) clients, all of them in use. New clients share one limit ` +
        'until there is room. Raise maxKeys, use a shared store, or add an address limit where one client can use many keys.',
    )
    return verdict
  }

  /** Returns the state of a key; that of an overflow bucket is then the most recently used one. */
  function read(key: string, policy: Policy): State | undefined {
    if (!key.startsWith(OVERFLOW)) return table.seek(key, policy) ? table.read().slice() : undefined
    const state = overflow.get(key)
    if (state !== undefined) overflow.set(key, state)
    return state
  }

  function write(writes: Outcome['writes']): void {
    for (const [key, { policy, state }] of writes) {
      if (key.startsWith(OVERFLOW)) overflow.set(key, state)
      else if (table.seek(key, policy)) table.write(state)
      else table.add(policy, state)
    }
  }

  function refundOne(refund: Refund, nowMs: number): void {
    const { key, policy, cost, takenAtMs, resetAtMs } = refund
    const isStored = table.seek(key, policy)
    const state = isStored ? table.read() : overflow.get(overflowKey(refund))
    if (state === undefined) return
    const left = policy.refund(state, nowMs, cost, takenAtMs, resetAtMs)
    if (isStored && left !== undefined) table.write(left)
    else if (isStored) table.remove()
    else if (left !== undefined) overflow.set(overflowKey(refund), left)
    else overflow.delete(overflowKey(refund))
  }

  const store: MemoryStore = {
    name: 'memory',
    charge(charges) {
      const nowMs = now()
      const first = charges[0]
      if (charges.length === 1 && first !== undefined) return [decide(first, nowMs)]
      return charges.map((charge) => decide(charge, nowMs))
    },
    refund(refunds) {
      const nowMs = now()
      for (const each of refunds) refundOne(each, nowMs)
    },
    forget(keys) {
      for (const { key } of keys) table.forget(key)
    },
    get size() {
      return table.size
    },
  }
  return Object.defineProperty(store, MEMORY_STORE, { value: store })
}
