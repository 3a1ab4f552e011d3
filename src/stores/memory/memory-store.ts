import { performance } from 'node:perf_hooks' // the global one is behind a getter, which costs as much as the clock
import { callback, readOptions, withDefault } from '../../options/option-table.js'
import { show, whole } from '../../util/validate.js'
import { warnOnce } from '../../util/warn-once.js'
import { evaluateCharge, type Outcome, type Read } from '../shared/evaluate-charge.js'
import type { Charge, KeyedPolicy, Part, Refund, Store, Verdict } from '../store.js'
import { Overflow } from './overflow.js'
import { type Hash, StateTable } from './state-table.js'

/** What a memory store is made of. */
export interface MemoryStoreOptions {
  /** The most keys held at once. Default 1,000,000. */
  maxKeys?: number
  /** The time in milliseconds since the Unix epoch, for simulations and tests. Default: a clock that never steps. */
  clock?: () => number
}

/** A store in this process: synchronous, exact, bounded. */
export interface MemoryStore extends Store {
  readonly name: 'memory'
  charge(charges: readonly Charge[]): readonly Verdict[]
  refund(refunds: readonly Refund[]): void
  forget(held: readonly KeyedPolicy[]): void
  /** How many keys are held. */
  readonly size: number
}

const OPTIONS = {
  rows: { maxKeys: withDefault(1_000_000, whole(1, 100_000_000)), clock: callback<() => number> },
  renamed: { max: 'maxKeys', size: 'maxKeys' },
}

const ORIGIN_MS = performance.timeOrigin // read once: it is a slow getter

/**
 * The wall clock as it was when the process started, carried on by the monotonic one: setting the system's clock
 * back or forth changes nothing.
 */
export function monotonicNow(): number {
  return ORIGIN_MS + performance.now()
}

/**
 * The mark of memory stores, also of those that another copy of this package made. Its value is the store
 * itself.
 */
const MEMORY_STORE = Symbol.for('headgate.memoryStore')

/**
 * Whether a store is this one: it answers at once and cannot fail, so that nothing has to stand before it.
 * What inherits from one, or wraps it, is none.
 */
export function isMemoryStore(store: Store): store is MemoryStore {
  return (store as { [MEMORY_STORE]?: Store })[MEMORY_STORE] === store
}

/** A clock that once told nonsense would leave states behind that deny for good. */
function finite(clock: () => number): () => number {
  return () => {
    const nowMs = clock()
    if (Number.isFinite(nowMs)) return nowMs
    throw new TypeError(`memoryStore: clock must give milliseconds, gave ${show(nowMs)}.`)
  }
}

/** Every so many charges of known keys some states are looked at, so that fresh ones go when no newcomers come. */
const CHARGES_PER_SWEEP = 16

/**
 * Keeps states in this process's memory: for one process, for tests, and as a stand-in while a shared store is away.
 *
 * - A decision is one synchronous step: no promise, and no timer, neither per key nor at all.
 * - States lie in typed arrays, under 64-bit hashes of their keys, the keys themselves are not kept. A token bucket's state takes
 *   25 to 50 bytes. Growing and shrinking go page by page, without a pause. The hash has a secret of its own in each store, so that
 *   nobody can aim at another's state; that any two of ten million keys share one by chance has odds of one in 370,000.
 * - At most `maxKeys` keys. States that equal fresh ones go first. When all are in use, room is made from those nearest
 *   to fresh, among up to 32 looked at, and never from a client that is at its limit. When there is no such room, newcomers
 * share one overflow state per limit, and the process warning `HEADGATE_MEMORY_FULL` reports it once. When
 * that
 *   state begins to deny newcomers, `HEADGATE_MEMORY_REFUSING` reports it once.
 *
 * Throws a `TypeError` for wrong options.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { maxKeys, clock } = readOptions('memoryStore', options, OPTIONS)
  const now = clock === undefined ? monotonicNow : finite(clock)
  const table = new StateTable(maxKeys)
  const overflow = new Overflow()
  let decided = 0

  function tellFull(): void {
    warnOnce(
      'HEADGATE_MEMORY_FULL',
      `headgate: the memory store holds maxKeys (${maxKeys}) clients, all of them in use. New clients share one limit ` +
        'until there is room. Raise maxKeys, or use a shared store.',
    )
  }

  /** Once, when newcomers begin to be denied for what other newcomers took. */
  function warnRefusing(): void {
    warnOnce(
      'HEADGATE_MEMORY_REFUSING',
      'headgate: the memory store is full of clients at their limit, and refuses new clients, who share one limit. Where ' +
        'one client can use many keys, such as user names, add an address limit beside it in limits.',
    )
  }

  function decide(charge: Charge, nowMs: number): Verdict {
    if (++decided % CHARGES_PER_SWEEP === 0) table.sweep(nowMs)
    const only = charge[0]
    return charge.length === 1 && only !== undefined ? decideOne(only, nowMs) : decideMany(charge, nowMs)
  }

  function decideOne(part: Part, nowMs: number): Verdict {
    const { key, policy, cost } = part
    if (!table.seek(key, policy)) return decideNewcomer(part, nowMs)
    const step = policy.take(table.read(), nowMs, cost)
    if (step.next !== undefined) table.write(step.next)
    return { allowed: step.allowed, atMs: nowMs, parts: [step] }
  }

  function decideNewcomer({ key, policy, cost }: Part, nowMs: number): Verdict {
    let step = policy.take(undefined, nowMs, cost)
    if (step.next !== undefined) {
      if (table.makeRoom(nowMs, 1)) {
        table.add(policy, step.next)
      } else {
        tellFull()
        const shared = overflow.of(key, policy)
        step = policy.take(shared.state, nowMs, cost)
        shared.state = step.next ?? shared.state
        if (!step.allowed) warnRefusing()
      }
    }
    return { allowed: step.allowed, atMs: nowMs, parts: [step] }
  }

  function decideMany(charge: Charge, nowMs: number): Verdict {
    const hashes = new Map(charge.map(({ key }) => [key, table.hashOf(key)]))
    const read: Read = (key, policy) => {
      const shared = overflow.get(key)
      if (shared !== undefined) return shared.state
      return table.seekHash(hashes.get(key) as Hash, policy) ? table.read().slice() : undefined
    }
    let outcome = evaluateCharge(charge, read, nowMs)
    const homeless = withoutRoom(outcome.writes, hashes, nowMs)
    if (homeless.size > 0) {
      tellFull()
      const moved = charge.map((part) =>
        homeless.has(part.key) ? { ...part, key: overflow.of(part.key, part.policy).key } : part,
      )
      outcome = evaluateCharge(moved, read, nowMs)
      const { parts } = outcome.verdict
      if (parts.some(({ allowed }, i) => !allowed && homeless.has(charge[i]?.key ?? ''))) warnRefusing()
    }
    for (const [key, { policy, state }] of outcome.writes) {
      const shared = overflow.get(key)
      if (shared !== undefined) shared.state = state
      else if (table.seekHash(hashes.get(key) as Hash, policy)) table.write(state)
      else table.add(policy, state)
    }
    return outcome.verdict
  }

  /** The newcomers among the keys to write for which there is no room; the charge's own keys do not make any. */
  function withoutRoom(
    writes: Outcome['writes'],
    hashes: ReadonlyMap<string, Hash>,
    nowMs: number,
  ): ReadonlySet<string> {
    const homeless = new Set<string>()
    let spared: ReadonlySet<number> | undefined
    let newcomers = 0
    for (const [key, { policy }] of writes) {
      if (table.seekHash(hashes.get(key) as Hash, policy)) continue
      spared ??= new Set(Array.from(hashes.values(), ({ low }) => low))
      if (table.makeRoom(nowMs, newcomers + 1, spared)) newcomers++
      else homeless.add(key)
    }
    return homeless
  }

  function giveBack({ key, policy, cost, takenAtMs, resetAtMs }: Refund, nowMs: number): void {
    if (table.seek(key, policy)) {
      const left = policy.refund(table.read(), nowMs, cost, takenAtMs, resetAtMs)
      if (left === undefined) table.remove()
      else table.write(left)
      return
    }
    const shared = overflow.find(key, policy)
    if (shared?.state === undefined) return
    shared.state = policy.refund(shared.state, nowMs, cost, takenAtMs, resetAtMs)
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
      for (const each of refunds) giveBack(each, nowMs)
    },
    forget(held) {
      for (const { key } of held) table.forget(key)
    },
    get size() {
      return table.size
    },
  }
  return Object.defineProperty(store, MEMORY_STORE, { value: store })
}
