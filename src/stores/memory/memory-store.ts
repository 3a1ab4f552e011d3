import { performance } from 'node:perf_hooks' // the global one is a getter, as slow as the clock itself
import { callback, readOptions, withDefault } from '../../options/option-table.js'
import type { Policy } from '../../policies/policy.js'
import { show, whole } from '../../util/validate.js'
import { warnOnce } from '../../util/warn-once.js'
import { evaluateCharge, type Read } from '../shared/evaluate-charge.js'
import type { Charge, KeyedPolicy, Part, Refund, Store, Verdict } from '../store.js'
import { OverflowBuckets } from './overflow.js'
import { type Hash, StateTable } from './state-table.js'

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
function finite(clock: () => number): () => number {
  return () => {
    const nowMs = clock()
    if (Number.isFinite(nowMs)) return nowMs
    throw new TypeError(`memoryStore: clock must give milliseconds, gave ${show(nowMs)}.`)
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

/** Every so many charges the table is swept, so that fresh states are removed while no new keys come. */
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
 *   `HEADGATE_MEMORY_REFUSING` reports once that such a bucket begins to deny them.
 *
 * Throws a `TypeError` for wrong options.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { maxKeys, clock } = readOptions('memoryStore', options, OPTIONS)
  const now = clock === undefined ? monotonicNow : finite(clock)
  const table = new StateTable(maxKeys)
  const overflow = new OverflowBuckets()
  let charged = 0

  function decide(charge: Charge, nowMs: number): Verdict {
    if (++charged % CHARGES_PER_SWEEP === 0) table.sweep(nowMs)
    const only = charge[0]
    return charge.length === 1 && only !== undefined ? decideOne(only, nowMs) : decideMany(charge, nowMs)
  }

  function decideOne(part: Part, nowMs: number): Verdict {
    const { key, policy, cost } = part
    if (!table.seek(key, policy)) return decideNewKey(part, nowMs)
    const step = policy.take(table.read(), nowMs, cost)
    if (step.next !== undefined) table.write(step.next)
    return { allowed: step.allowed, atMs: nowMs, parts: [step] }
  }

  function decideNewKey({ key, policy, cost }: Part, nowMs: number): Verdict {
    let step = policy.take(undefined, nowMs, cost)
    if (step.next !== undefined) {
      if (table.makeRoom(nowMs, 1)) {
        table.add(policy, step.next)
      } else {
        const bucket = overflow.use(key, policy)
        step = policy.take(bucket.state, nowMs, cost)
        bucket.state = step.next ?? bucket.state
        warnFull(maxKeys, !step.allowed)
      }
    }
    return { allowed: step.allowed, atMs: nowMs, parts: [step] }
  }

  function decideMany(charge: Charge, nowMs: number): Verdict {
    const hashes = new Map(charge.map(({ key }) => [key, table.hashOf(key)]))
    const hasState = (key: string, policy: Policy) => table.seekHash(hashes.get(key) as Hash, policy)
    const read: Read = (key, policy) => {
      const bucket = overflow.get(key)
      if (bucket !== undefined) return bucket.state
      return hasState(key, policy) ? table.read().slice() : undefined
    }
    let outcome = evaluateCharge(charge, read, nowMs)
    const newKeys = new Set<string>()
    for (const [key, { policy }] of outcome.writes) if (!hasState(key, policy)) newKeys.add(key)
    if (newKeys.size > 0 && !table.makeRoom(nowMs, newKeys.size, hashes.values())) {
      const redirected = charge.map((part) =>
        newKeys.has(part.key) ? { ...part, key: overflow.use(part.key, part.policy).key } : part,
      )
      outcome = evaluateCharge(redirected, read, nowMs)
      const { parts } = outcome.verdict
      warnFull(
        maxKeys,
        charge.some(({ key }, i) => newKeys.has(key) && !parts[i]?.allowed),
      )
    }
    for (const [key, { policy, state }] of outcome.writes) {
      const bucket = overflow.get(key)
      if (bucket !== undefined) bucket.state = state
      else if (hasState(key, policy)) table.write(state)
      else table.add(policy, state)
    }
    return outcome.verdict
  }

  function refundOne({ key, policy, cost, takenAtMs, resetAtMs }: Refund, nowMs: number): void {
    if (table.seek(key, policy)) {
      const left = policy.refund(table.read(), nowMs, cost, takenAtMs, resetAtMs)
      if (left === undefined) table.remove()
      else table.write(left)
      return
    }
    const bucket = overflow.find(key, policy)
    if (bucket?.state === undefined) return
    bucket.state = policy.refund(bucket.state, nowMs, cost, takenAtMs, resetAtMs)
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

/** Warns that the store is full, and also, if an overflow bucket denied a new key, that it refuses them. */
function warnFull(maxKeys: number, isDenied: boolean): void {
  warnOnce(
    'HEADGATE_MEMORY_FULL',
    `headgate: the memory store holds maxKeys (${maxKeys}) clients, all of them in use. New clients share one limit ` +
      'until there is room. Raise maxKeys, or use a shared store.',
  )
  if (!isDenied) return
  warnOnce(
    'HEADGATE_MEMORY_REFUSING',
    'headgate: the memory store is full of clients at their limit, and refuses new clients, who share one limit. Where ' +
      'one client can use many keys, such as user names, add an address limit beside it in limits.',
  )
}
